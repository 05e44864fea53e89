package bench

import (
	"context"
	"runtime"
	"testing"
	"time"
)

// BenchmarkContention measures what processors that share one instance cost
// each other: one processor, two that share an instance, and two that have one
// each. The bare semaphore is what no bulkhead can do without.
func BenchmarkContention(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Skip("takes two processors")
	}
	for _, l := range []struct {
		name string
		make func() library
	}{
		{"backstay", func() library { return backstayStack(true, ignoring) }},
		{"semaphore", func() library { return waitingSemaphore(succeeding()) }},
		{"by-hand", func() library { return handmadeStack(ignoring) }},
	} {
		shared := l.make()
		b.Run("one-processor/"+l.name, func(b *testing.B) {
			onProcessors(b, 1, func() library { return shared })
		})
		b.Run("two-processors/"+l.name, func(b *testing.B) {
			onProcessors(b, 2, func() library { return shared })
		})
		b.Run("two-instances/"+l.name, func(b *testing.B) {
			onProcessors(b, 2, l.make)
		})
	}
}

// onProcessors times calls from n processors, each of which gets its library
// from pick. The callers' deadline is near enough to need no timer.
func onProcessors(b *testing.B, n int, pick func() library) {
	b.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	b.RunParallel(func(pb *testing.PB) {
		l := pick()
		for pb.Next() {
			if err := l.call(ctx); err != nil {
				b.Errorf("%s: %v", l.name, err)
				return
			}
		}
	})
}
