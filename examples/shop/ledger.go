package main

import (
	"fmt"
	"sync"
	"time"
)

// slack is what a caller may wait beyond its deadline, beside the time in which
// the machine did not let the program run: a timer is no alarm.
const slack = 250 * time.Millisecond

// ledger knows what really happened to every order, and how long callers
// waited, and remembers each time that something happened which must not.
type ledger struct {
	mu     sync.Mutex
	orders map[string]*order // since the books were closed last
	broken []string          // the first of what must not happen

	placed, settled int
	faults          int           // what must not happen, in all
	longest         time.Duration // that anybody waited
}

// order is what happened to one.
type order struct {
	confirmed             bool // its customer was told
	reservations, charges int
}

func newLedger() *ledger { return &ledger{orders: make(map[string]*order)} }

// place notes that a customer wants something.
func (l *ledger) place(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.placed++
	l.orders[id] = new(order)
}

// note notes something about an order. What nobody has ordered, or has been
// settled before, is a fault.
func (l *ledger) note(id, what string, f func(*order)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o, ok := l.orders[id]
	if !ok {
		l.fault("%q was %s, and is no open order", id, what)
		return
	}
	f(o)
}

func (l *ledger) reserve(id string) { l.note(id, "reserved", func(o *order) { o.reservations++ }) }
func (l *ledger) charge(id string)  { l.note(id, "charged", func(o *order) { o.charges++ }) }
func (l *ledger) confirm(id string) { l.note(id, "confirmed", func(o *order) { o.confirmed = true }) }

// wait notes how long somebody has waited whose deadline was limit.
func (l *ledger) wait(took, limit time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.longest = max(l.longest, took)
	if took > limit+slack {
		l.fault("a caller waited %v; it had %v", took.Round(time.Millisecond), limit)
	}
}

// fault remembers what must not happen, while l is locked.
func (l *ledger) fault(format string, args ...any) {
	l.faults++
	if len(l.broken) < 10 {
		l.broken = append(l.broken, fmt.Sprintf(format, args...))
	}
}

// open returns the orders whose customers have not been told yet.
func (l *ledger) open() (ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, o := range l.orders {
		if !o.confirmed {
			ids = append(ids, id)
		}
	}
	return ids
}

// close closes the books: every order is confirmed, and was reserved and
// charged once.
func (l *ledger) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, o := range l.orders {
		switch {
		case o.charges > 1 || o.reservations > 1:
			l.fault("order %s was charged %d times and reserved %d times", id, o.charges, o.reservations)
		case !o.confirmed:
			l.fault("order %s is lost: nobody confirms it", id)
		case o.charges == 0 || o.reservations == 0:
			l.fault("order %s is lost: confirmed, charged %d times, reserved %d times", id, o.charges, o.reservations)
		default:
			l.settled++
		}
	}
	clear(l.orders)
}

// err returns what has happened that must not.
func (l *ledger) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.faults == 0 {
		return nil
	}
	return fmt.Errorf("%d times something happened that must not: %q", l.faults, l.broken)
}
