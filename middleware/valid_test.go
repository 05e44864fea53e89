package middleware_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

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

// What Validate accepts works, and New says of the rest what Validate says.
func TestNewAcceptsWhatValidateAccepts(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(rt *rapid.T) {
		target := middleware.Target{Config: drawConfig(rt)}
		err := target.Validate()
		p, newErr := middleware.New(target)
		if (err == nil) != (newErr == nil) || (p == nil) != (newErr != nil) {
			rt.Fatalf("Validate: %v\nNew: %v", err, newErr)
		}
		if err != nil {
			if _, ok := errors.AsType[*backstay.FieldError](err); !ok {
				rt.Fatalf("a fault without a path: %v", err)
			}
			return
		}
		accepted++
		if _, err := middleware.Do(t.Context(), p, succeeds); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			rt.Fatalf("%+v: %v", target.Config, err)
		}
		_ = p.Status()
	})
	if accepted == 0 {
		t.Error("no configuration was valid")
	}
}

var (
	lengths = rapid.SampledFrom([]time.Duration{0, 0, 0, -1, -2, 1, time.Millisecond, time.Second, time.Minute, time.Hour, 100 * time.Hour, math.MaxInt64})
	numbers = rapid.SampledFrom([]int{0, 0, 0, -1, -2, 1, 2, 20, math.MaxInt32})
	shares  = rapid.SampledFrom([]float64{0, 0, 0, -1, 0.1, 0.5, 1, 2, math.NaN(), math.Inf(1)})
)

// maybe draws a section, or leaves it out.
func maybe[C any](rt *rapid.T, name string, draw func() C) *C {
	if !rapid.Bool().Draw(rt, name) {
		return nil
	}
	c := draw()
	return &c
}

func drawConfig(rt *rapid.T) middleware.Config {
	d := func(name string) time.Duration { return lengths.Draw(rt, name) }
	n := func(name string) int { return numbers.Draw(rt, name) }
	share := func(name string) float64 { return shares.Draw(rt, name) }
	return middleware.Config{
		Fallback: maybe(rt, "fallback", func() fallback.Config { return fallback.Config{DrillShare: share("drill_share")} }),
		Deadline: maybe(rt, "deadline", func() deadline.Config { return deadline.Config{Total: d("total")} }),
		Idempotency: maybe(rt, "idempotency", func() idempotency.Config {
			return idempotency.Config{Generate: true}
		}),
		Retry: maybe(rt, "retry", func() retry.Config {
			return retry.Config{MaxAttempts: n("max_attempts"), MinAttemptTime: d("min_attempt_time"), Budget: retry.BudgetConfig{Ratio: share("ratio")}}
		}),
		Hedge: maybe(rt, "hedge", func() hedge.Config {
			return hedge.Config{Delay: d("delay"), Floor: d("floor"), Percentile: share("percentile")}
		}),
		Breaker: maybe(rt, "breaker", func() breaker.Config {
			return breaker.Config{SlowAfter: d("slow_after"), SlowRatio: share("slow_ratio"), ProbeLease: d("probe_lease"), Window: n("window")}
		}),
		Bulkhead: maybe(rt, "bulkhead", func() bulkhead.Config {
			return bulkhead.Config{Limit: int64(n("limit")), MaxQueue: n("max_queue"), MaxWait: d("max_wait")}
		}),
		Timeout: maybe(rt, "timeout", func() timeout.Config {
			return timeout.Config{After: d("after"), Abandon: rapid.Bool().Draw(rt, "abandon")}
		}),
	}
}
