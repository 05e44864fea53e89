package bulkhead_test

import (
	"context"
	"testing"

	"golang.org/x/sync/semaphore"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
)

// kinds are the bulkheads whose cost differs.
var kinds = []struct {
	name   string
	config bulkhead.Config
}{
	{"fixed", bulkhead.Config{}},
	{"queue", bulkhead.Config{MaxQueue: 64}},
	{"priorities", bulkhead.Config{MaxQueue: 64, Priorities: &bulkhead.PriorityConfig{}}},
	{"weighted", bulkhead.Config{MaxQueue: 64, Weighted: true}},
	{"held body", bulkhead.Config{HoldBody: true}},
	{"rate", bulkhead.Config{Rate: &bulkhead.RateConfig{PerSecond: 1e9}}},
	{"adaptive", bulkhead.Config{Adaptive: &bulkhead.AdaptiveConfig{}}},
}

func BenchmarkRun(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind.name, func(b *testing.B) {
			policy := must(bulkhead.New(kind.config))
			ctx, answer := b.Context(), 42
			b.ReportAllocs()
			for b.Loop() {
				_, err := bulkhead.Do(ctx, policy, func(context.Context) (int, error) { return answer, nil })
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPermit has a bare semaphore as its yardstick: a bulkhead that only
// counts, or whose queue is empty, should take at most 1.3 times its time.
func BenchmarkPermit(b *testing.B) {
	b.Run("semaphore", func(b *testing.B) {
		bare := semaphore.NewWeighted(64)
		for b.Loop() {
			bare.TryAcquire(1)
			bare.Release(1)
		}
	})
	for _, kind := range kinds[:2] {
		b.Run(kind.name, func(b *testing.B) {
			policy := must(bulkhead.New(kind.config))
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				permit, _ := policy.TryAcquire(ctx, 1)
				permit.Release(backstay.Outcome{})
			}
		})
	}
}

func BenchmarkPermitContended(b *testing.B) {
	b.Run("semaphore", func(b *testing.B) {
		bare := semaphore.NewWeighted(64)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				bare.TryAcquire(1)
				bare.Release(1)
			}
		})
	})
	for _, kind := range kinds[:2] {
		b.Run(kind.name, func(b *testing.B) {
			policy := must(bulkhead.New(kind.config))
			ctx := b.Context()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					permit, _ := policy.TryAcquire(ctx, 1)
					permit.Release(backstay.Outcome{})
				}
			})
		})
	}
}

func BenchmarkRefusal(b *testing.B) {
	policy := must(bulkhead.New(bulkhead.Config{Limit: 1}))
	must(policy.Acquire(b.Context(), 1))
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := policy.Acquire(ctx, 1); err == nil {
			b.Fatal("admitted")
		}
	}
}

func BenchmarkShardedFor(b *testing.B) {
	set := must(bulkhead.NewSharded(bulkhead.Config{}, 64, 4))
	b.ReportAllocs()
	for b.Loop() {
		set.For("tenant")
	}
}
