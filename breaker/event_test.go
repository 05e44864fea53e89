package breaker_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
)

// Acceptance case C33.
func TestC33_AListenerMayUseTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b *breaker.Breaker
		var told []string
		listener := backstay.ObserverFunc(func(ctx context.Context, e backstay.Event) {
			if e.Kind != backstay.BreakerChanged {
				return
			}
			told = append(told, e.To+" "+b.State().String())
			_, _ = b.Counts(), b.Busy()
			if b.State() != breaker.HalfOpen {
				_ = call(ctx, b, nil)
			}
		})
		b = must(breaker.New(twoFailures(), breaker.WithScope(&backstay.Scope{Observer: listener})))
		trip(t, b)
		time.Sleep(time.Second)
		wantAdmitted(t, call(t.Context(), b, nil))
		b.ForceOpen()
		b.Reset()
		want := []string{"open open", "half-open half-open", "closed closed", "forced-open forced-open", "closed closed"}
		if len(told) != len(want) {
			t.Fatalf("told %q, want %q", told, want)
		}
		for i := range want {
			if told[i] != want[i] {
				t.Errorf("told %q, want %q", told[i], want[i])
			}
		}
	})
}

func TestAListenerMayPanicOrLeave(t *testing.T) {
	for name, leave := range map[string]func(){"panics": func() { panic("boom") }, "leaves": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hostile := backstay.ObserverFunc(func(_ context.Context, e backstay.Event) {
					if e.Kind == backstay.BreakerChanged {
						leave()
					}
				})
				b := must(breaker.New(twoFailures(), breaker.WithScope(&backstay.Scope{Observer: hostile})))
				attempt := func(err error) {
					var all sync.WaitGroup
					all.Go(func() { _ = call(t.Context(), b, err) })
					all.Wait()
				}
				attempt(errBackend)
				attempt(errBackend)
				wantState(t, b, breaker.Open)
				time.Sleep(time.Second)
				attempt(nil) // a listener that leaves takes the first probe with it
				attempt(nil)
				wantState(t, b, breaker.Closed)
			})
		})
	}
}

// Acceptance case C49.
func TestC49_FiveRejectedCallsAreFiveRejections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newBreaker(t, twoFailures())
		trip(t, b)
		for range 5 {
			for range 3 { // a retry of three attempts, which a rejection ends
				if err := call(t.Context(), b, nil); !backstay.Classify(err).Class.Retryable() {
					break
				}
			}
		}
		rejected := l.of(backstay.CallRejected)
		if len(rejected) != 5 {
			t.Errorf("%d rejections, want 5", len(rejected))
		}
		for _, e := range rejected {
			if e.Reason != backstay.ReasonBreakerOpen || e.Wait != time.Second || e.Outcome.Class != backstay.Rejected ||
				!errors.Is(e.Err, breaker.ErrOpen) || e.Policy != "payments" || e.Key != "db" {
				t.Errorf("event %+v", e)
			}
		}
	})
}

func TestChangesSayWhyAndForHowLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newBreaker(t, twoFailures())
		trip(t, b)
		time.Sleep(time.Second)
		_ = call(t.Context(), b, errBackend)
		time.Sleep(2 * time.Second)
		_ = call(t.Context(), b, nil)
		b.MetricsOnly()
		want := []struct {
			why  backstay.Reason
			wait time.Duration
		}{
			{breaker.ReasonConsecutive, time.Second},
			{breaker.ReasonProbing, 0},
			{breaker.ReasonProbeFailed, 2 * time.Second},
			{breaker.ReasonProbing, 0},
			{breaker.ReasonProbesPassed, 0},
			{breaker.ReasonManual, 0},
		}
		for i, e := range l.of(backstay.BreakerChanged) {
			if e.Reason != want[i].why || e.Wait != want[i].wait {
				t.Errorf("change %d: %s for %v, want %s for %v", i, e.Reason, e.Wait, want[i].why, want[i].wait)
			}
		}
	})
}

func TestARejectionIsInTheReport(t *testing.T) {
	b, _ := newBreaker(t, breaker.Config{})
	b.ForceOpen()
	ctx, report := backstay.WithReport(t.Context())
	wantRejected(t, call(ctx, b, nil))
	if got := report.Summary().Reason; got != backstay.ReasonBreakerOpen {
		t.Errorf("reason %q", got)
	}
}
