package middleware_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// held runs f while the only permit of p is taken by a call that lasts d.
func held(p *middleware.Pipeline, d time.Duration, f func()) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = middleware.Do(context.Background(), p, deaf(d))
	}()
	synctest.Wait()
	f()
	<-over
}

func TestTheBreakerRejectsBeforeTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := made(t, only(middleware.Config{Breaker: &breaker.Config{}, Bulkhead: &bulkhead.Config{Limit: 1, MaxQueue: 10}}))
		held(p, time.Minute, func() {
			p.Breaker().ForceOpen()
			began := time.Now()
			_, err := middleware.Do(t.Context(), p, succeeds)
			refused(t, err, breaker.ErrOpen)
			if time.Since(began) != 0 {
				t.Errorf("it waited for %v in a queue", time.Since(began))
			}
		})
	})
}

// Acceptance case C20.
func TestC20_ARefusalIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := made(t, only(middleware.Config{Retry: &retry.Config{}, Breaker: &breaker.Config{}, Bulkhead: &bulkhead.Config{Limit: 1}}))
		began := time.Now()
		p.Breaker().ForceOpen()
		_, err := middleware.Do(t.Context(), p, succeeds)
		refused(t, err, breaker.ErrOpen)
		if open, ok := errors.AsType[*breaker.OpenError](err); !ok || open.Name != "test" {
			t.Errorf("the error names nobody: %v", err)
		}
		p.Breaker().Reset()
		held(p, time.Second, func() {
			_, err := middleware.Do(t.Context(), p, succeeds)
			refused(t, err, bulkhead.ErrFull)
			if time.Since(began) != 0 {
				t.Errorf("it waited for %v", time.Since(began))
			}
		})
	})
}

func TestNoPermitIsHeldDuringABackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := only(middleware.Config{Retry: &retry.Config{MaxServerWait: time.Hour}, Bulkhead: &bulkhead.Config{Limit: 1}})
		p := made(t, target)
		done := make(chan error)
		go func() {
			_, err := middleware.Do(t.Context(), p, answers(func(context.Context) (int, error) {
				return 0, backstay.RetryAfter(errDown, time.Minute)
			}, succeeds))
			done <- err
		}()
		synctest.Wait() // it is in its wait
		if n := p.Bulkhead().InFlight(); n != 0 {
			t.Errorf("%d permits are held", n)
		}
		if _, err := middleware.Do(t.Context(), p, succeeds); err != nil {
			t.Errorf("another call meanwhile: %v", err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// The slow rule and the attempt timeout begin after our own queue.
// Acceptance case C59.
func TestC59_TheTimeInTheQueueCountsAgainstNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := made(t, only(middleware.Config{
			Breaker:  &breaker.Config{SlowAfter: time.Second, SlowRatio: 0.1, MinCalls: 1},
			Bulkhead: &bulkhead.Config{Limit: 1, MaxQueue: 1},
			Timeout:  &timeout.Config{After: time.Second},
		}))
		for range 5 {
			permit, err := p.Bulkhead().Acquire(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(3*time.Second, func() { permit.Release(backstay.Outcome{}) })
			began := time.Now()
			if _, err := middleware.Do(t.Context(), p, slow(900*ms)); err != nil {
				t.Errorf("after 3 s in the queue: %v", err)
			}
			if took := time.Since(began); took != 3900*ms {
				t.Errorf("took %v", took)
			}
		}
		if c := p.Breaker().Counts(); c.Slow != 0 || c.Calls != 5 || p.Breaker().State() != breaker.Closed {
			t.Errorf("%v with %+v", p.Breaker().State(), c)
		}
		if _, err := middleware.Do(t.Context(), p, slow(2*time.Second)); !errors.Is(err, timeout.ErrTimeout) {
			t.Errorf("a backend that is slow itself: %v", err)
		}
	})
}

func TestTheTotalBoundsEveryWait(t *testing.T) {
	for name, c := range map[string]struct {
		config middleware.Config
		f      func(context.Context) (int, error)
		want   error
	}{
		"in the queue":     {middleware.Config{Bulkhead: &bulkhead.Config{Limit: 1, MaxQueue: 1}}, succeeds, bulkhead.ErrFull},
		"of the attempt":   {middleware.Config{Timeout: &timeout.Config{After: timeout.Off}}, slow(time.Hour), context.DeadlineExceeded},
		"of many attempts": {middleware.Config{Retry: &retry.Config{Base: retry.NoWait, MaxAttempts: 100, Budget: retry.NoBudget}}, func(ctx context.Context) (int, error) { return 0, errors.Join(sleep(ctx, time.Second), errDown) }, errDown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.config.Deadline = &deadline.Config{Total: 10 * time.Second}
				p := made(t, only(c.config))
				if b := p.Bulkhead(); b != nil {
					permit, _ := b.Acquire(t.Context(), 1)
					defer permit.Release(backstay.Outcome{})
				}
				began := time.Now()
				_, err := middleware.Do(t.Context(), p, c.f)
				if took := time.Since(began); took != 10*time.Second || !errors.Is(err, deadline.ErrExceeded) || !errors.Is(err, c.want) {
					t.Errorf("after %v: %v", took, err)
				}
			})
		})
	}
}

func TestAWaitThatDoesNotFitIntoTheTotalIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := made(t, only(middleware.Config{Deadline: &deadline.Config{}, Retry: &retry.Config{}}))
		began := time.Now()
		_, err := middleware.Do(t.Context(), p, func(context.Context) (int, error) {
			return 0, backstay.RetryAfter(errDown, 20*time.Second)
		})
		if time.Since(began) != 0 || !errors.Is(err, errDown) || !errors.Is(err, retry.ErrExhausted) {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

func TestTheFallbackSeesEveryRefusal(t *testing.T) {
	late, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		config middleware.Config
		spoil  func(*middleware.Pipeline)
		cause  error
	}{
		"open": {context.Background(), middleware.Config{Breaker: &breaker.Config{}}, func(p *middleware.Pipeline) { p.Breaker().ForceOpen() }, breaker.ErrOpen},
		"full": {context.Background(), middleware.Config{Bulkhead: &bulkhead.Config{Limit: 1}}, func(p *middleware.Pipeline) {
			_, _ = p.Bulkhead().Acquire(context.Background(), 1)
		}, bulkhead.ErrFull},
		"too late": {late, middleware.Config{Deadline: &deadline.Config{Need: time.Hour, Total: time.Hour}}, func(*middleware.Pipeline) {}, deadline.ErrTooLate},
		"failed":   {context.Background(), middleware.Config{Retry: &retry.Config{Base: retry.NoWait}}, func(*middleware.Pipeline) {}, errDown},
	} {
		t.Run(name, func(t *testing.T) {
			p := made(t, only(c.config))
			var cause error
			l, err := middleware.NewLadder(p, fallback.Rungs(fallback.Reduced("less", func(_ context.Context, err error) (int, error) {
				cause = err
				return 42, nil
			})))
			if err != nil {
				t.Fatal(err)
			}
			c.spoil(p)
			if got, err := middleware.DoOr(c.ctx, p, l, fails); got != 42 || err != nil || !errors.Is(cause, c.cause) {
				t.Errorf("%d, %v because of %v", got, err, cause)
			}
		})
	}
}

func TestAFullBulkheadSaysNothingOfTheBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := made(t, only(middleware.Config{Breaker: &breaker.Config{Consecutive: 1}, Bulkhead: &bulkhead.Config{Limit: 1}}))
		held(p, time.Second, func() {
			for range 50 {
				_, err := middleware.Do(t.Context(), p, succeeds)
				refused(t, err, bulkhead.ErrFull)
			}
			if c := p.Breaker().Counts(); c.Calls != 0 || p.Breaker().State() != breaker.Closed {
				t.Errorf("%v with %+v", p.Breaker().State(), c)
			}
		})
	})
}

func TestARaceIsOneAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := made(t, only(middleware.Config{
			Retry: &retry.Config{MaxAttempts: 2, Base: retry.NoWait}, Hedge: &hedge.Config{Delay: 10 * ms},
		}))
		ctx, report := backstay.WithReport(t.Context())
		// Both copies of the first attempt fail, those of the second do not.
		_, err := middleware.Race(ctx, p, nil, func(ctx context.Context) (int, error) {
			if err := sleep(ctx, 50*ms); err != nil || retry.Attempt(ctx) > 1 {
				return 0, err
			}
			return 0, errDown
		})
		s := report.Summary()
		if err != nil || s.Attempts != 2 || s.Copies != 2 || len(s.Waits) != 1 {
			t.Errorf("%v: %+v", err, s)
		}
	})
}

func TestTheIdempotencyKeyIsMadeOnceACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := made(t, only(middleware.Config{
			Idempotency: &idempotency.Config{Generate: true},
			Retry:       &retry.Config{Base: retry.NoWait, Budget: retry.NoBudget}, Hedge: &hedge.Config{Delay: 10 * ms},
		}))
		var mu sync.Mutex
		var keys []string
		call := func(ctx context.Context) string {
			keys = nil
			ctx, report := backstay.WithReport(ctx)
			_, _ = middleware.Race(ctx, p, nil, func(ctx context.Context) (int, error) {
				mu.Lock()
				keys = append(keys, idempotency.KeyFrom(ctx))
				mu.Unlock()
				return 0, errors.Join(sleep(ctx, 50*ms), errDown)
			})
			for _, k := range keys {
				if k != keys[0] || k == "" {
					t.Errorf("keys %q", keys)
				}
			}
			if got := report.Summary().Key; len(keys) != 6 || got != keys[0] {
				t.Errorf("%d attempts and copies, key %q in the report", len(keys), got)
			}
			return keys[0]
		}
		first, second := call(t.Context()), call(t.Context())
		if first == second {
			t.Error("two calls have the same key")
		}
		if got := call(idempotency.WithKey(t.Context(), "mine")); got != "mine" {
			t.Errorf("the caller's key was replaced by %q", got)
		}
		if _, err := middleware.Do(t.Context(), p, func(ctx context.Context) (int, error) {
			if idempotency.KeyFrom(ctx) == "" {
				t.Error("Do makes no key")
			}
			return 0, nil
		}); err != nil {
			t.Error(err)
		}
	})
}

func TestANilPipelineOnlyCalls(t *testing.T) {
	var p *middleware.Pipeline
	l, err := middleware.NewLadder(p, fallback.Rungs(fallback.Value(42)))
	if err != nil {
		t.Fatal(err)
	}
	x := backstay.Plain[int]{}
	for name, call := range map[string]func(f func(context.Context) (int, error)) (int, error){
		"Do":   func(f func(context.Context) (int, error)) (int, error) { return middleware.Do(t.Context(), p, f) },
		"DoOr": func(f func(context.Context) (int, error)) (int, error) { return middleware.DoOr(t.Context(), p, l, f) },
		"Race": func(f func(context.Context) (int, error)) (int, error) { return middleware.Race(t.Context(), p, l, f) },
		"Run": func(f func(context.Context) (int, error)) (int, error) {
			return middleware.Run(t.Context(), p, l, x, struct{}{}, func(ctx context.Context, _ struct{}) (int, error) { return f(ctx) })
		},
	} {
		if got, err := call(succeeds); got != 7 || err != nil {
			t.Errorf("%s: %d, %v", name, got, err)
		}
		got, err := call(fails)
		if name == "Do" && !errors.Is(err, errDown) || name != "Do" && (got != 42 || err != nil) {
			t.Errorf("%s of a failure: %d, %v", name, got, err)
		}
	}
	if p.Close(t.Context()) != nil || p.Concurrent() || p.Breaker() != nil || p.Bulkhead() != nil || p.Status() != (middleware.Status{}) {
		t.Error("a nil pipeline has something")
	}
}
