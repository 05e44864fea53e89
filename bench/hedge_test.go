package bench

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"

	"github.com/backstay-go/backstay/hedge"
)

// BenchmarkHedge compares a second copy of a slow read: "idle" is the usual
// case, an answer that comes before the copy is due; in "fired" the first copy
// hangs and the second, due at once, answers. hedgedhttp is in
// BenchmarkRoundTripper.
func BenchmarkHedge(b *testing.B) {
	compare(b, "idle", succeeds,
		bareHandler(ignoring), backstayHedge(time.Second, ignoring), failsafeHedge(time.Second, ignoring))
	compare(b, "fired", succeeds,
		backstayHedge(time.Nanosecond, firstHangs()), failsafeHedge(time.Nanosecond, firstHangs()))
}

// firstHangs is a backend whose every first call waits for its end, and whose
// every second one answers.
func firstHangs() handler {
	var calls atomic.Int64
	return func(ctx context.Context) (int, error) {
		if calls.Add(1)%2 == 0 {
			return 1, nil
		}
		<-ctx.Done()
		return 0, ctx.Err()
	}
}

// backstayHedge has a budget that pays a copy for every call.
func backstayHedge(delay time.Duration, f handler) library {
	p := must(hedge.New(hedge.Config{Delay: delay, Budget: hedge.BudgetConfig{Ratio: 1}}))
	return library{name: "backstay", call: func(ctx context.Context) error {
		_, err := hedge.Do(ctx, p, func(ctx context.Context) (int, error) { return f(ctx) })
		return err
	}}
}

func failsafeHedge(delay time.Duration, f handler) library {
	executor := failsafe.With(hedgepolicy.NewWithDelay[int](delay))
	return library{name: "failsafe-go", call: func(ctx context.Context) error {
		_, err := executor.WithContext(ctx).GetWithExecution(func(e failsafe.Execution[int]) (int, error) {
			return f(e.Context())
		})
		return err
	}}
}
