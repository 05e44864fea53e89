package bulkhead_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"golang.org/x/sync/semaphore"

	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/internal/testkit"
)

func TestABulkheadWithoutAQueueTakes32Bytes(t *testing.T) {
	if got := unsafe.Sizeof(bulkhead.Bulkhead{}); got != 32 {
		t.Errorf("%d bytes", got)
	}
	b := must(bulkhead.New(bulkhead.Config{}))
	var clone *bulkhead.Bulkhead
	testkit.Allocs(t, 1, func() { clone = b.Clone(nil) })
	if clone.Limit() != 64 {
		t.Errorf("the clone's limit is %d", clone.Limit())
	}
}

func TestAWaiterCostsNoMoreMemoryThanOneOfABareSemaphore(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector allocates on its own")
	}
	const waiters = 10_000
	synctest.Test(t, func(t *testing.T) {
		bare := semaphore.NewWeighted(1)
		bare.TryAcquire(1)
		plain := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: waiters}))
		acquire(t, plain)
		timed := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: waiters, MaxWait: time.Minute}))
		acquire(t, timed)

		ofBare := func(ctx context.Context) { _ = bare.Acquire(ctx, 1) }
		ofTimed := func(ctx context.Context) { _, _ = timed.Acquire(ctx, 1) }
		perWaiter(waiters, ofTimed) // from here on, goroutines come from the runtime's free list
		perWaiter(waiters, ofBare)

		want := perWaiter(waiters, ofBare)
		got := perWaiter(waiters, func(ctx context.Context) { _, _ = plain.Acquire(ctx, 1) })
		gotTimed := perWaiter(waiters, ofTimed)
		wantTimed := perWaiter(waiters, func(ctx context.Context) { // last, as its timers stay for a while
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			_ = bare.Acquire(ctx, 1)
		})
		t.Logf("bytes a waiter: %.0f, with a longest wait %.0f; semaphore %.0f, with a context for the wait %.0f", got, gotTimed, want, wantTimed)
		if got > 1.1*want || gotTimed > 1.1*want {
			t.Errorf("%.0f and %.0f bytes a waiter, the bare semaphore has %.0f", got, gotTimed, want)
		}
	})
}

// perWaiter returns how much heap each of n goroutines takes that wait.
func perWaiter(n int, wait func(context.Context)) float64 {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	before := heap()
	for range n {
		all.Go(func() { wait(ctx) })
	}
	synctest.Wait()
	after := heap()
	cancel()
	all.Wait()
	return (after - before) / float64(n)
}

func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
