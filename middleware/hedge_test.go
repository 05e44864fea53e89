package middleware_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
)

// Losers are cancelled by us: the breaker hears of winners alone.
// Acceptance case C43a.
func TestC43a_LosersCountNeitherAsErrorsNorAsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(journal)
		p := made(t, only(middleware.Config{
			Hedge:    &hedge.Config{Delay: 10 * ms, Budget: hedge.BudgetConfig{Ratio: 1}},
			Breaker:  &breaker.Config{Window: 1000},
			Bulkhead: &bulkhead.Config{Limit: 8},
		}), middleware.WithObserver(seen))
		const calls = 200
		for i := range calls {
			_, err := middleware.Race(t.Context(), p, nil, func(ctx context.Context) (int, error) {
				if i%2 == 0 && hedge.Copy(ctx) == 1 {
					return 0, sleep(ctx, time.Second) // the copy overtakes it
				}
				return 7, nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if c := p.Breaker().Counts(); c.Calls != calls || c.Failures != 0 {
			t.Errorf("the breaker counts %+v", c)
		}
		ends := make(map[backstay.Reason]int)
		for _, e := range seen.of(backstay.HedgeDone) {
			ends[e.Reason]++
		}
		if ends[backstay.ReasonHedgeWon] != calls/2 || ends[backstay.ReasonHedgeCancelled] != calls/2 {
			t.Errorf("copies ended %v", ends)
		}
		classes := make(map[backstay.Class]int)
		for _, e := range seen.of(backstay.AttemptDone) {
			classes[e.Outcome.Class]++
		}
		if classes[backstay.Success] != calls || classes[backstay.Canceled] != calls/2 || len(classes) != 2 {
			t.Errorf("attempts ended %v", classes)
		}
		if n := p.Bulkhead().InFlight(); n != 0 {
			t.Errorf("%d permits are held", n)
		}
	})
}

func TestCopiesSpendFromTheRetryBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := made(t, only(middleware.Config{
			Retry: &retry.Config{}, Hedge: &hedge.Config{Delay: 10 * ms, Budget: hedge.BudgetConfig{Ratio: 1, Burst: 1000}},
		}))
		copies := 0
		const calls = 100
		for range calls {
			ctx, report := backstay.WithReport(t.Context())
			_, _ = middleware.Race(ctx, p, nil, slow(50*ms))
			copies += report.Summary().Copies
		}
		if copies < calls/10 || copies > calls/10+4 {
			t.Errorf("%d copies of %d calls, want a tenth and the burst", copies, calls)
		}
	})
}

func TestNoCopyIsSentToATargetInTrouble(t *testing.T) {
	for name, spoil := range map[string]func(*middleware.Pipeline){
		"full": func(p *middleware.Pipeline) { _, _ = p.Bulkhead().Acquire(context.Background(), 1) },
		"half-open": func(p *middleware.Pipeline) {
			_, _ = middleware.Do(context.Background(), p, fails)
			time.Sleep(time.Minute)
		},
		"held closed":  func(p *middleware.Pipeline) { p.Breaker().ForceClosed() },
		"only watched": func(p *middleware.Pipeline) { p.Breaker().MetricsOnly() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := made(t, only(middleware.Config{
					Hedge: &hedge.Config{Delay: 10 * ms}, Breaker: &breaker.Config{Consecutive: 1}, Bulkhead: &bulkhead.Config{Limit: 2},
				}))
				spoil(p)
				ctx, report := backstay.WithReport(t.Context())
				_, err := middleware.Race(ctx, p, nil, slow(50*ms))
				if s := report.Summary(); err != nil || s.Copies != 0 {
					t.Errorf("%v: %+v", err, s)
				}
			})
		})
	}
}

func TestDoNeitherHedgesNorAbandons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := made(t, outliving())
		if !p.Concurrent() || made(t, middleware.Standard("test")).Concurrent() {
			t.Error("Concurrent")
		}
		ctx, report := backstay.WithReport(t.Context())
		began := time.Now()
		_, _ = middleware.Do(ctx, p, deaf(time.Minute))
		if report.Summary().Copies != 0 || time.Since(began) != time.Minute {
			t.Errorf("%v after %v", report, time.Since(began))
		}
	})
}
