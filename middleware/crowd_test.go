package middleware_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/middleware"
)

// fickle returns a function that does something else at every attempt, and
// counts the attempts.
func fickle(random *rand.Rand, attempts *atomic.Int32) func(context.Context) (int, error) {
	ends := []func(context.Context) (int, error){
		succeeds, succeeds, succeeds, succeeds, succeeds, succeeds, fails,
		slow(50 * ms), slow(50 * ms), slow(time.Minute), deaf(30 * ms), deaf(5 * time.Second),
		func(context.Context) (int, error) { return 0, backstay.PermanentError(errDown) },
		func(context.Context) (int, error) { return 0, backstay.RetryAfter(errDown, time.Second) },
		func(context.Context) (int, error) { panic("boom") },
		func(context.Context) (int, error) { runtime.Goexit(); return 0, nil },
	}
	var mu sync.Mutex
	return func(ctx context.Context) (int, error) {
		attempts.Add(1)
		mu.Lock()
		end := ends[random.IntN(len(ends))]
		mu.Unlock()
		return end(ctx)
	}
}

// Whatever calls do, each ends once, in the report as in the events, and
// leaves nothing behind.
func TestACrowdOfCallsLeavesNothingBehind(t *testing.T) {
	for _, abandon := range []bool{false, true} {
		t.Run(fmt.Sprintf("abandon %v", abandon), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { crowd(t, abandon) })
		})
	}
}

func crowd(t *testing.T, abandon bool) {
	const calls = 1000
	seen := new(journal)
	target := everything(abandon)
	target.Bulkhead = &bulkhead.Config{Limit: 10, MaxQueue: 3, MaxWait: time.Second}
	target.Breaker = &breaker.Config{OpenFor: 100 * ms}
	r := registry(t, target, middleware.WithObserver(seen))
	attempts := make([]atomic.Int32, calls)
	reports := make([]*backstay.Report, calls)
	var wg sync.WaitGroup
	for i := range calls {
		ctx := context.Background()
		if i%7 == 0 {
			ctx = cancelledAfter(time.Duration(i%50) * ms)
		}
		ctx, reports[i] = backstay.WithReport(ctx)
		f := fickle(rand.New(rand.NewPCG(1, uint64(i))), &attempts[i])
		wg.Go(func() {
			_, _ = fate(func() { _, _ = through(ctx, r, "host", f) })
		})
		time.Sleep(time.Duration(i%150) * ms)
	}
	wg.Wait()
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	synctest.Wait()
	s := r.Get("host", backstay.Now()).Status()
	if s.Bulkhead.InFlight != 0 || s.Bulkhead.Queued != 0 || s.Abandoned != 0 || s.Hedge.Copies != 0 {
		t.Errorf("left behind: %+v, %+v, %d abandoned", s.Bulkhead, s.Hedge, s.Abandoned)
	}
	n := seen.counts()
	if n[backstay.CallDone] != calls || n[backstay.HedgeStarted] == 0 || n[backstay.RetryPlanned] == 0 || n[backstay.CallRejected] == 0 {
		t.Errorf("events %v", n)
	}
	var sum int
	for i, report := range reports {
		told, made := report.Summary(), int(attempts[i].Load())
		sum += made
		if made < told.Attempts || made > told.Attempts+told.Copies {
			t.Errorf("call %d was made %d times: %+v", i, made, told)
		}
	}
	if n[backstay.AttemptDone] != sum {
		t.Errorf("%d attempts and copies were made, %d told of", sum, n[backstay.AttemptDone])
	}
}
