package middleware_test

import (
	"context"
	"errors"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// Acceptance case C49.
func TestC49_ARefusalIsCountedOnce(t *testing.T) {
	seen := new(journal)
	p := made(t, middleware.Standard("test"), middleware.WithObserver(seen))
	p.Breaker().ForceOpen()
	for range 5 {
		_, err := middleware.Do(t.Context(), p, succeeds)
		refused(t, err, breaker.ErrOpen)
	}
	want := map[backstay.Kind]int{backstay.BreakerChanged: 1, backstay.CallRejected: 5, backstay.CallDone: 5}
	if got := seen.counts(); !maps.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	for _, e := range seen.of(backstay.CallDone) {
		if e.Outcome.Class != backstay.Rejected || e.Reason != backstay.ReasonBreakerOpen || e.Attempt != 0 || !errors.Is(e.Err, breaker.ErrOpen) {
			t.Errorf("%+v", e)
		}
	}
}

// Each thing that happens is told once, with the names of the pipeline.
func TestEveryKindOfEventIsToldOnceAThing(t *testing.T) {
	type counts map[backstay.Kind]int
	for name, c := range map[string]struct {
		config middleware.Config
		do     func(*middleware.Pipeline)
		want   counts
	}{
		"a success": {
			middleware.Standard("").Config,
			func(p *middleware.Pipeline) { _, _ = middleware.Do(context.Background(), p, succeeds) },
			counts{backstay.AttemptDone: 1, backstay.CallDone: 1},
		},
		"a success on attempt 3": {
			middleware.Standard("").Config,
			func(p *middleware.Pipeline) {
				_, _ = middleware.Do(context.Background(), p, answers(fails, slow(time.Hour), succeeds))
			},
			counts{backstay.AttemptDone: 3, backstay.RetryPlanned: 2, backstay.CallDone: 1},
		},
		"a failure after 3 attempts": {
			middleware.Standard("").Config,
			func(p *middleware.Pipeline) { _, _ = middleware.Do(context.Background(), p, fails) },
			counts{backstay.AttemptDone: 3, backstay.RetryPlanned: 2, backstay.CallDone: 1},
		},
		"a failure that must not be retried": {
			middleware.Standard("").Config,
			func(p *middleware.Pipeline) {
				_, _ = middleware.Do(retry.Suppress(context.Background()), p, fails)
			},
			counts{backstay.AttemptDone: 1, backstay.RetrySuppressed: 1, backstay.CallDone: 1},
		},
		"a call that comes too late": {
			middleware.Config{Deadline: &deadline.Config{Need: time.Second}},
			func(p *middleware.Pipeline) {
				ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
				defer cancel()
				_, _ = middleware.Do(ctx, p, succeeds)
			},
			counts{backstay.CallRejected: 1, backstay.CallDone: 1},
		},
		"a full bulkhead": {
			middleware.Config{Retry: &retry.Config{}, Bulkhead: &bulkhead.Config{Limit: 1}},
			func(p *middleware.Pipeline) {
				held(p, time.Second, func() { _, _ = middleware.Do(context.Background(), p, succeeds) })
			},
			counts{backstay.CallRejected: 1, backstay.AttemptDone: 1, backstay.CallDone: 2},
		},
		"an outage from beginning to end": {
			middleware.Config{Breaker: &breaker.Config{Consecutive: 2, OpenFor: time.Second}},
			func(p *middleware.Pipeline) {
				for range 4 { // two open it, two are refused
					_, _ = middleware.Do(context.Background(), p, fails)
				}
				time.Sleep(time.Minute)
				_, _ = middleware.Do(context.Background(), p, succeeds)
			},
			counts{backstay.BreakerChanged: 3, backstay.CallRejected: 2, backstay.AttemptDone: 3, backstay.CallDone: 5},
		},
		"a race": {
			middleware.Config{Hedge: &hedge.Config{Delay: 10 * ms}},
			func(p *middleware.Pipeline) { _, _ = middleware.Race(context.Background(), p, nil, slow(50*ms)) },
			counts{backstay.HedgeStarted: 1, backstay.HedgeDone: 2, backstay.AttemptDone: 2, backstay.CallDone: 1},
		},
		"a fallback": {
			middleware.Config{},
			func(p *middleware.Pipeline) {
				l, _ := middleware.NewLadder(p, fallback.Rungs(fallback.Value(1)))
				_, _ = middleware.DoOr(context.Background(), p, l, fails)
			},
			counts{backstay.AttemptDone: 1, backstay.FallbackUsed: 1, backstay.CallDone: 1},
		},
		"an abandoned attempt": {
			middleware.Config{Timeout: &timeout.Config{Abandon: true}},
			func(p *middleware.Pipeline) {
				_, _ = middleware.Race(context.Background(), p, nil, deaf(time.Minute))
				time.Sleep(time.Hour)
			},
			counts{backstay.AttemptDone: 1, backstay.CallDone: 1},
		},
		"a cancelled call": {
			middleware.Standard("").Config,
			func(p *middleware.Pipeline) {
				ctx, cancel := context.WithCancel(context.Background())
				time.AfterFunc(time.Second, cancel)
				_, _ = middleware.Do(ctx, p, slow(time.Minute))
			},
			counts{backstay.AttemptDone: 1, backstay.CallDone: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := new(journal)
				r := registry(t, middleware.Target{Name: "payments", Config: c.config}, middleware.WithObserver(seen))
				c.do(r.Get("host", backstay.Now()))
				synctest.Wait()
				if got := seen.counts(); !maps.Equal(got, c.want) {
					t.Errorf("events %v, want %v", got, c.want)
				}
				seen.mu.Lock()
				defer seen.mu.Unlock()
				for _, e := range seen.events {
					if e.Policy != "payments" || e.Key != "host" && e.Reason != backstay.ReasonTooLate {
						t.Errorf("%q is told on behalf of %s[%s]", e.Kind, e.Policy, e.Key)
					}
				}
			})
		})
	}
}

func TestEventsTellHowLongThingsTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(journal)
		p := made(t, only(middleware.Config{
			Retry: &retry.Config{MaxServerWait: time.Minute}, Bulkhead: &bulkhead.Config{Limit: 1, MaxQueue: 1},
		}), middleware.WithObserver(seen))
		permit, _ := p.Bulkhead().Acquire(t.Context(), 1)
		time.AfterFunc(3*time.Second, func() { permit.Release(backstay.Outcome{}) })
		busy := func(ctx context.Context) (int, error) {
			return 0, errors.Join(sleep(ctx, time.Second), backstay.RetryAfter(errDown, 10*time.Second))
		}
		if _, err := middleware.Do(t.Context(), p, answers(busy, slow(2*time.Second))); err != nil {
			t.Fatal(err)
		}
		e := seen.of(backstay.AttemptDone, backstay.RetryPlanned, backstay.CallDone)
		if len(e) != 4 || e[0].Elapsed != time.Second || e[1].Wait < 10*time.Second || e[2].Elapsed != 2*time.Second {
			t.Fatalf("events %+v", e)
		}
		if want := 3*time.Second + e[0].Elapsed + e[1].Wait + e[2].Elapsed; e[3].Elapsed != want || e[3].Attempt != 2 {
			t.Errorf("the call took %v, want %v: queue, attempts and wait", e[3].Elapsed, want)
		}
	})
}
