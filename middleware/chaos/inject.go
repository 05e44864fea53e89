package chaos

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
)

// injection is the faults of one call, on their way through it.
type injection struct {
	*Injector
	plan *plan
	hits []Injected
	host string
}

// faulty returns what is to be injected into a call; false if nothing is. It
// costs no allocation where there is nothing.
func (i *Injector) faulty(r Request) (injection, bool) {
	if i == nil {
		return injection{}, false
	}
	p := i.plan.Load()
	if p == nil {
		return injection{}, false
	}
	d := p.decide(time.Now(), r, i.random)
	return injection{i, p, d.Injected, r.Host}, len(d.Injected) > 0
}

// before does what comes before the call: it waits, and returns an error where
// the call ends. A hit that it returns is still to come: it answers, or changes
// the answer.
func (c *injection) before(ctx context.Context) (*Injected, error) {
	for n := range c.hits {
		hit := &c.hits[n]
		f := hit.Fault
		if n > 0 && c.over(f) {
			continue
		}
		var e *InjectedError
		if hit.Latency > 0 || !cuts(f.Kind) { // a cut is told of when there is something to cut
			e = mark(f)
			c.tell(ctx, hit, e)
		}
		over, err := c.wait(ctx, hit)
		switch {
		case err != nil:
			return nil, c.ended(err, f)
		case over || f.Kind == middleware.FaultLatency:
		case cuts(f.Kind) || f.Kind == middleware.FaultStatus:
			return hit, nil
		default:
			return nil, c.failure(e, c.host)
		}
	}
	return nil, nil
}

// cuts reports whether a fault of kind k changes an answer that was given.
func cuts(k middleware.FaultKind) bool {
	return k == middleware.FaultTruncated || k == middleware.FaultStalled
}

// over reports whether the time of f has passed since the decision.
func (c *injection) over(f *middleware.Fault) bool {
	select {
	case <-c.plan.over:
		return true
	default:
		return !f.Active(time.Now())
	}
}

// wait holds the call up for as long as hit says. It reports whether the fault
// was over before that: then the call goes on.
func (c *injection) wait(ctx context.Context, hit *Injected) (over bool, err error) {
	h := c.hold(hit.Fault)
	if hit.Latency > 0 {
		over, err = h.wait(ctx, hit.Latency)
	}
	if hit.Fault.Kind == middleware.FaultBlackHole && !over && err == nil {
		over, err = h.wait(ctx, forever)
	}
	return over, err
}

// stall holds an answer back for as long as f lasts, until ctx ends, or until
// it is closed.
func (c *injection) stall(ctx context.Context, f *middleware.Fault, closed <-chan struct{}) error {
	h := c.hold(f)
	h.closed = closed
	_, err := h.wait(ctx, forever)
	if err == nil || errors.Is(err, http.ErrBodyReadAfterClose) {
		return err
	}
	return c.ended(err, f)
}

// hold returns what f holds things up with.
func (c *injection) hold(f *middleware.Fault) hold { return hold{until: f.Until, over: c.plan.over} }

// tell tells the call's report and the observer of hit.
func (c *injection) tell(ctx context.Context, hit *Injected, e *InjectedError) {
	backstay.NoteAttempt(ctx, func(s *backstay.Summary) { s.Injected = append(s.Injected, e.Fault) })
	if c.scope.Silent() {
		return
	}
	s := backstay.Scope{Policy: c.scope.Policy, Key: cmp.Or(c.scope.Key, c.host), Observer: c.scope.Observer}
	s.Emit(ctx, backstay.Event{
		Kind: backstay.FaultInjected, Reason: backstay.Reason(e.Fault), Err: e, Wait: hit.Latency,
		Attempt: retry.Attempt(ctx), Copy: hedge.Copy(ctx),
	})
}
