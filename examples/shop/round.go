package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/backstay-go/backstay/middleware"
)

// patience is how long customers come back for what they have ordered, once
// everything works again.
const patience = 10 * time.Second

// round has customers come for so long, while the script is played, and settles
// every order in the end, also where it is interrupted.
func (s *shop) round(ctx context.Context, out io.Writer, long time.Duration) error {
	calm := s.customers.pulse.start()
	defer calm()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var coming sync.WaitGroup
	coming.Go(func() { s.customers.come(ctx) })
	var all error
	for _, a := range script {
		if ctx.Err() != nil {
			break
		}
		all = errors.Join(all, s.play(ctx, out, a, long/time.Duration(len(script))))
	}
	stop()
	coming.Wait()
	s.customers.settle(patience)
	s.ledger.close()
	s.customers.views.take()
	return all
}

// play plays an act, and prints what customers see of it meanwhile.
func (s *shop) play(ctx context.Context, out io.Writer, a act, long time.Duration) error {
	fmt.Fprintln(out, a.title)
	if err := s.begin(a); err != nil {
		return err
	}
	rows := max(1, int(long.Seconds()))
	for range rows {
		select {
		case <-ctx.Done():
		case <-time.After(long / time.Duration(rows)):
			fmt.Fprint(out, s.sight.tally.takeNews(), s.row(long/time.Duration(rows)))
		}
	}
	return s.end(a)
}

func (s *shop) begin(a act) error {
	s.payments.loses.Store(a.loses)
	s.customers.crowd.Store(&a.crowd)
	return errors.Join(s.spoil(a.on, a.fault), s.edit(a.was, a.is))
}

func (s *shop) end(a act) error {
	s.payments.loses.Store(false)
	return errors.Join(s.spoil(a.on, nil), s.edit(a.is, a.was))
}

// spoil puts faults on the way to the service called name, in the place of
// those before.
func (s *shop) spoil(name string, all []middleware.Fault) error {
	if name == "" {
		return nil
	}
	return s.faults[name].play(all)
}

// edit replaces a line of the policy file, as somebody with an editor does. The
// shop sees that for itself.
func (s *shop) edit(line, by string) error {
	if line == "" {
		return nil
	}
	text, err := os.ReadFile(s.file)
	if err != nil {
		return err
	}
	text = bytes.Replace(text, []byte(line), []byte(by), 1)
	return os.WriteFile(s.file, text, 0o600) //nolint:gosec // the program's own folder
}

// row tells in one line what customers saw in the time since the last one, a
// second, and how the front's calls are: the breakers, and how many retries are
// left.
func (s *shop) row(since time.Duration) string {
	v := s.customers.views.take()
	rate := func(n int) int { return int(float64(n)/since.Seconds() + 0.5) }
	var b strings.Builder
	fmt.Fprintf(&b, "  ok %3d/s  stale %3d/s  refused %3d/s  failed %3d/s  p95 %3d ms |",
		rate(v.good), rate(v.stale), rate(v.refused), rate(v.failed), v.slowest(0.95).Milliseconds())
	for _, name := range services {
		state := s.status(name)
		fmt.Fprintf(&b, "  %s %-9s %2.0f", name, state.Breaker.State, state.Budget.Available)
	}
	b.WriteByte('\n')
	return b.String()
}

// services are what the front calls.
var services = []string{"inventory", "payments", "search"}

// status is the state of what calls the service called name. Each has one host
// here, and so one pipeline.
func (s *shop) status(name string) middleware.Status {
	all := s.pipelines[name].Statuses()
	if len(all) == 0 {
		all = append(all, middleware.Status{})
	}
	status := all[0]
	if status.Breaker == nil {
		status.Breaker = &middleware.BreakerStatus{State: "none"}
	}
	if status.Budget == nil {
		status.Budget = new(middleware.BudgetStatus)
	}
	return status
}
