package otelmw_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
)

func TestACallThatIsSavedByARetryIsOneSuccess(t *testing.T) {
	l := newLab(t)
	if _, err := middleware.Do(t.Context(), l.pipeline(), failsFirst(2)); err != nil {
		t.Fatal(err)
	}
	l.want("backstay.calls", map[string]float64{"backstay.outcome=success,backstay.policy=payments": 1})
	l.want("backstay.call.duration", map[string]float64{"backstay.outcome=success,backstay.policy=payments": 1})
	l.want("backstay.attempts", map[string]float64{
		"backstay.attempt.outcome=success,backstay.policy=payments":   1,
		"backstay.attempt.outcome=transient,backstay.policy=payments": 2,
	})
	l.want("backstay.retries", map[string]float64{"backstay.policy=payments,backstay.reason=transient": 2})
	l.want("backstay.rejections", nil)
	l.want("backstay.deadline.remaining", map[string]float64{"backstay.policy=payments": 3})
}

// Acceptance case C49.
func TestC49_FiveCallsRefusedByABreakerAreFiveRejections(t *testing.T) {
	l := newLab(t)
	p := l.pipeline(func(target *middleware.Target) { target.Retry = &retry.Config{MaxAttempts: 3, Base: retry.NoWait} })
	p.Breaker().ForceOpen()
	for range 5 {
		if _, err := middleware.Do(t.Context(), p, succeeds); err == nil {
			t.Fatal("an open breaker let a call through")
		}
	}
	l.want("backstay.rejections", map[string]float64{"backstay.policy=payments,backstay.reason=breaker_open": 5})
	l.want("backstay.calls", map[string]float64{"backstay.outcome=rejected,backstay.policy=payments,backstay.reason=breaker_open": 5})
	l.want("backstay.attempts", nil)
	l.want("backstay.retries", nil)
	l.want("backstay.breaker.transitions", map[string]float64{
		"backstay.cause=manual,backstay.from=closed,backstay.policy=payments,backstay.to=forced-open": 1,
	})
}

// Half of the calls are overtaken by their copy. Error rate and latency are
// those of calls, and see none of the losers.
// Acceptance case C43a.
func TestC43a_LosersAreCancelledAndNeitherErrorsNorLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		p := l.pipeline(func(target *middleware.Target) {
			target.Hedge = &hedge.Config{Delay: 10 * time.Millisecond, Budget: hedge.BudgetConfig{Ratio: 1}}
			target.Retry = nil
		})
		const calls = 100
		for i := range calls {
			_, err := middleware.Race(t.Context(), p, nil, func(ctx context.Context) (int, error) {
				if i%2 == 0 && hedge.Copy(ctx) == 1 {
					<-ctx.Done()
					return 0, ctx.Err()
				}
				return 7, nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		l.want("backstay.calls", map[string]float64{"backstay.outcome=success,backstay.policy=payments": calls})
		l.want("backstay.call.duration", map[string]float64{"backstay.outcome=success,backstay.policy=payments": calls})
		l.want("backstay.attempts", map[string]float64{
			"backstay.attempt.outcome=success,backstay.policy=payments":  calls,
			"backstay.attempt.outcome=canceled,backstay.policy=payments": calls / 2,
		})
		l.want("backstay.hedges", map[string]float64{
			"backstay.copy=1,backstay.policy=payments,backstay.reason=cancelled": calls / 2,
			"backstay.copy=2,backstay.policy=payments,backstay.reason=won":       calls / 2,
		})
		l.want("backstay.hedge.delay", map[string]float64{"backstay.policy=payments": calls / 2})
	})
}

func TestARefusedRetryIsCountedWithItsReason(t *testing.T) {
	l := newLab(t)
	p := l.pipeline(func(target *middleware.Target) {
		target.Breaker = nil
		target.Retry = &retry.Config{Base: retry.NoWait, Budget: retry.BudgetConfig{Burst: 1}}
	})
	for range 3 {
		_, _ = middleware.Do(t.Context(), p, fails)
	}
	if n := l.values("backstay.retries.suppressed")["backstay.policy=payments,backstay.reason=budget_empty"]; n != 3 {
		t.Errorf("counted %v", l.values("backstay.retries.suppressed"))
	}
}

func TestAFallbackIsASuccessAndCounted(t *testing.T) {
	l := newLab(t)
	p := l.pipeline()
	ladder, err := middleware.NewLadder(p, fallback.Rungs(fallback.Reduced("yesterday's", func(context.Context, error) (int, error) { return 6, nil })))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := middleware.DoOr(t.Context(), p, ladder, fails); err != nil {
		t.Fatal(err)
	}
	l.want("backstay.fallbacks", map[string]float64{"backstay.policy=payments,backstay.rung=yesterday's": 1})
	l.want("backstay.calls", map[string]float64{"backstay.outcome=success,backstay.policy=payments,backstay.reason=exhausted": 1})
}

func TestEveryRefusalHasItsReason(t *testing.T) {
	l := newLab(t)
	p := l.pipeline(func(target *middleware.Target) {
		target.Bulkhead = &bulkhead.Config{Limit: 1}
		target.Breaker = &breaker.Config{}
	})
	_, err := middleware.Do(t.Context(), p, func(ctx context.Context) (int, error) {
		return middleware.Do(ctx, p, succeeds) // there is one permit, and it is given out
	})
	if err == nil {
		t.Fatal("two calls at once")
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _ = middleware.Do(t.Context(), p, succeeds)
	l.want("backstay.rejections", map[string]float64{
		"backstay.policy=payments,backstay.reason=bulkhead_full": 1,
		"backstay.policy=payments,backstay.reason=closed":        1,
	})
}

func TestAnAttemptTellsWhatWasLeftOfItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := middleware.Do(ctx, l.pipeline(), func() func(context.Context) (int, error) {
			second := failsFirst(1)
			return func(ctx context.Context) (int, error) {
				time.Sleep(time.Second)
				return second(ctx)
			}
		}())
		if err != nil {
			t.Fatal(err)
		}
		h := l.metric("backstay.deadline.remaining").Data.(metricdata.Histogram[float64]).DataPoints[0]
		if h.Count != 2 || h.Sum != 3+2 {
			t.Errorf("%d measured, in all %v s, want 3 s and 2 s", h.Count, h.Sum)
		}
	})
}

func TestWithoutADeadlineNothingIsMeasured(t *testing.T) {
	l := newLab(t)
	p := l.pipeline(func(target *middleware.Target) { target.Config = middleware.Config{} })
	_, _ = middleware.Do(context.Background(), p, succeeds)
	l.want("backstay.deadline.remaining", nil)
}

func TestOneObserverServesManyPipelines(t *testing.T) {
	l := newLab(t)
	for _, name := range []string{"payments", "stock"} {
		p := l.pipeline(func(target *middleware.Target) { target.Name = name })
		_, _ = middleware.Do(t.Context(), p, succeeds)
	}
	l.want("backstay.calls", map[string]float64{
		"backstay.outcome=success,backstay.policy=payments": 1,
		"backstay.outcome=success,backstay.policy=stock":    1,
	})
}

var _ backstay.Tracer = (*lab)(nil)
