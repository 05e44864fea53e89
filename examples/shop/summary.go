package main

import (
	"fmt"
	"io"
	"time"
)

// summary prints the state of the policies, and of the orders.
func (s *shop) summary(out io.Writer) {
	fmt.Fprintf(out, "\n%-10s %7s %9s %14s %7s %8s %9s %7s %-9s %7s\n",
		"calls of", "sent", "attempts", "amplification", "copies", "refused", "degraded", "opened", "breaker", "budget")
	for _, name := range append([]string{"front"}, services...) {
		c, state := s.sight.tally.get(name), s.status(name)
		fmt.Fprintf(out, "%-10s %7d %9d %14.2f %7d %8d %9d %7d %-9s %7.1f\n", name, c.sent, c.attempts,
			c.amplification(), c.copies, c.refused, c.degraded, c.opened, state.Breaker.State, state.Budget.Available)
	}
	fmt.Fprintf(out, "\nat the doors: the front refused %d; answers given again under their keys: front %d, inventory %d, payments %d\n",
		s.sight.tally.get("front-server").refused, s.sight.tally.get("front-server").replayed,
		s.sight.tally.get("inventory-server").replayed, s.sight.tally.get("payments-server").replayed)
	l := s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(out, "orders: %d placed, %d confirmed, reserved and charged exactly once\n", l.placed, l.settled)
	fmt.Fprintf(out, "callers: the longest wait was %v, their deadline is %v; timers were %v late in all\n",
		l.longest.Round(time.Millisecond), s.customers.limit, s.customers.pulse.total().Round(time.Millisecond))
}
