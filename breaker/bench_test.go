package breaker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
)

var errBench = errors.New("bench")

// BenchmarkClosed compares a closed breaker's cost with gobreaker's own.
func BenchmarkClosed(b *testing.B) {
	ctx := context.Background()
	limited, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	n := 0
	b.Run("gobreaker", func(b *testing.B) {
		cb := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{})
		for b.Loop() {
			_, _ = cb.Execute(func() (int, error) { n++; return n, nil })
		}
	})
	for _, c := range []struct {
		name   string
		ctx    context.Context //nolint:containedctx // one row's
		config breaker.Config
	}{
		{"calls", ctx, breaker.Config{}},
		{"calls, slow_after and a deadline", limited, breaker.Config{SlowAfter: time.Second}},
		{"1000 calls", ctx, breaker.Config{Window: 1000}},
		{"slow rule", ctx, breaker.Config{SlowAfter: time.Second, SlowRatio: 0.5}},
		{"time window", ctx, breaker.Config{TimeWindow: 10 * time.Second}},
		{"time window and slow rule", ctx, breaker.Config{TimeWindow: 10 * time.Second, SlowAfter: time.Second, SlowRatio: 0.5}},
	} {
		b.Run(c.name, func(b *testing.B) {
			policy := must(breaker.New(c.config))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = breaker.Do(c.ctx, policy, func(context.Context) (int, error) { n++; return n, nil })
			}
		})
	}
}

// BenchmarkMixed is BenchmarkClosed with a failure every eighth call.
func BenchmarkMixed(b *testing.B) {
	n := 0
	work := func() (int, error) {
		n++
		if n%8 == 0 {
			return 0, errBench
		}
		return n, nil
	}
	b.Run("gobreaker", func(b *testing.B) {
		cb := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{})
		for b.Loop() {
			_, _ = cb.Execute(work)
		}
	})
	for name, config := range map[string]breaker.Config{
		"calls":       {},
		"1000 calls":  {Window: 1000},
		"time window": {TimeWindow: 10 * time.Second},
	} {
		b.Run(name, func(b *testing.B) {
			policy := must(breaker.New(config))
			for b.Loop() {
				_, _ = breaker.Do(context.Background(), policy, func(context.Context) (int, error) { return work() })
			}
		})
	}
}

// BenchmarkAt hands a reading of the clock down, as a pipeline does.
func BenchmarkAt(b *testing.B) {
	n := 0
	for name, config := range map[string]breaker.Config{
		"calls":     {SlowAfter: time.Second},
		"slow rule": {SlowAfter: time.Second, SlowRatio: 0.5},
	} {
		b.Run(name, func(b *testing.B) {
			policy := must(breaker.New(config))
			now := backstay.Now()
			for b.Loop() {
				began := now
				_, _ = breaker.RunAt(context.Background(), &began, policy, backstay.Plain[int]{}, struct{}{},
					func(context.Context, struct{}) (int, error) { n++; return n, nil })
			}
		})
	}
}

// BenchmarkClosedParallel shows what sharing one breaker costs.
func BenchmarkClosedParallel(b *testing.B) {
	b.Run("gobreaker", func(b *testing.B) {
		cb := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{})
		b.RunParallel(func(pb *testing.PB) {
			for n := 0; pb.Next(); n++ {
				_, _ = cb.Execute(func() (int, error) { return n, nil })
			}
		})
	})
	b.Run("calls", func(b *testing.B) {
		policy := must(breaker.New(breaker.Config{}))
		b.RunParallel(func(pb *testing.PB) {
			for n := 0; pb.Next(); n++ {
				_, _ = breaker.Do(context.Background(), policy, func(context.Context) (int, error) { return n, nil })
			}
		})
	})
}

// BenchmarkRejected shows what an open breaker costs, beside its error.
func BenchmarkRejected(b *testing.B) {
	ctx := context.Background()
	work := func(context.Context) (int, error) { return 0, nil }
	b.Run("gobreaker", func(b *testing.B) {
		cb := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{ReadyToTrip: func(gobreaker.Counts) bool { return true }})
		_, _ = cb.Execute(func() (int, error) { return 0, errBench })
		for b.Loop() {
			_, _ = cb.Execute(func() (int, error) { return 0, nil })
		}
	})
	b.Run("open", func(b *testing.B) {
		policy := must(breaker.New(breaker.Config{Consecutive: 1, OpenFor: time.Hour}))
		_, _ = breaker.Do(ctx, policy, func(context.Context) (int, error) { return 0, errBench })
		b.ReportAllocs()
		for b.Loop() {
			_, _ = breaker.Do(ctx, policy, work)
		}
	})
	b.Run("half-open, places taken", func(b *testing.B) {
		policy := must(breaker.New(breaker.Config{Consecutive: 1, OpenFor: time.Millisecond}))
		_, _ = breaker.Do(ctx, policy, func(context.Context) (int, error) { return 0, errBench })
		time.Sleep(2 * time.Millisecond)
		pass := must(policy.Allow(ctx))
		defer pass.Done(ctx, backstay.Outcome{}, 0)
		b.ReportAllocs()
		for b.Loop() {
			_, _ = breaker.Do(ctx, policy, work)
		}
	})
	var sink error
	b.Run("the error alone", func(b *testing.B) {
		for b.Loop() {
			sink = &breaker.OpenError{}
		}
	})
	_ = sink
}
