package hedge_test

import (
	"context"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
)

func BenchmarkDo(b *testing.B) {
	const never = time.Minute
	b.Run("idle", func(b *testing.B) { measureDo(b, context.Background(), must(b, hedge.Config{Delay: never})) })
	b.Run("idle live", func(b *testing.B) {
		p := must(b, hedge.Config{MinSamples: 1})
		measureDo(b, context.Background(), p)
	})
	b.Run("too few samples", func(b *testing.B) {
		measureDo(b, context.Background(), must(b, hedge.Config{MinSamples: 1_000_000}))
	})
	b.Run("gate closed", func(b *testing.B) {
		closed := func() bool { return false }
		measureDo(b, context.Background(), must(b, hedge.Config{Delay: never}, hedge.WithGate(closed)))
	})
	b.Run("budget empty", func(b *testing.B) {
		p := must(b, hedge.Config{Delay: 1, Budget: hedge.BudgetConfig{Ratio: 1e-9, Burst: 1}})
		for p.State().Tokens >= 1 {
			_, _ = hedge.Do(context.Background(), p, func(ctx context.Context) (int, error) {
				time.Sleep(time.Millisecond)
				return 0, nil
			})
		}
		measureDo(b, context.Background(), p)
	})
	b.Run("never", func(b *testing.B) {
		measureDo(b, hedge.Never(context.Background()), must(b, hedge.Config{Delay: never}))
	})
	b.Run("absent", func(b *testing.B) { measureDo(b, context.Background(), nil) })
}

func measureDo(b *testing.B, ctx context.Context, p *hedge.Policy) {
	b.Helper()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if _, err := hedge.Do(ctx, p, func(context.Context) (int, error) { n++; return n, nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRunIdleWaitedOn(b *testing.B) {
	p := must(b, hedge.Config{Delay: time.Minute})
	b.ReportAllocs()
	for b.Loop() {
		_, _ = hedge.Run(context.Background(), p, backstay.Plain[int]{}, struct{}{}, func(ctx context.Context, _ struct{}) (int, error) {
			return 1, context.Cause(ctx)
		})
	}
}
