package retry_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/retry"
)

// foreign is a context of a type that package context does not know, and which
// cannot tell of its end but through Done.
type foreign struct {
	context.Context

	done chan struct{}
}

func (f foreign) Done() <-chan struct{} { return f.done }

// Acceptance case C52.
func TestC52_NothingOutlivesACall(t *testing.T) {
	parent := foreign{t.Context(), make(chan struct{})}
	p := policy(t, retry.Config{Base: retry.NoWait, Budget: retry.NoBudget})
	retried := func(calls int) {
		for range calls {
			if _, err := retry.Do(parent, p, failing(errDown, errDown)); err != nil {
				t.Fatal(err)
			}
		}
	}
	retried(100)
	goroutines, before := runtime.NumGoroutine(), heap()
	retried(100_000)
	if after := heap(); after > before+256<<10 {
		t.Errorf("the heap grew by %d bytes", after-before)
	}
	if got := runtime.NumGoroutine(); got > goroutines {
		t.Errorf("%d goroutines, %d before", got, goroutines)
	}
}

// Acceptance case C52.
func TestC52_WaitsLeaveNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent := foreign{t.Context(), make(chan struct{})}
		p := policy(t, retry.Config{Budget: retry.NoBudget})
		before := heap()
		for range 1_000 {
			_, _ = retry.Do(parent, p, failing(errDown, errDown))
		}
		if after := heap(); after > before+256<<10 {
			t.Errorf("the heap grew by %d bytes", after-before)
		}
	})
}

// heap returns how many bytes of the heap are in use.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // the first one may have left what it could not sweep
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Acceptance case C55.
func TestC55_APolicyIsSharedByAThousandGoroutines(t *testing.T) {
	tests := map[string]retry.Option{
		"with our own waits": observed(&told{}),
		"with a BackOff":     retry.WithBackOff(func() backoff.BackOff { return backoff.NewExponentialBackOff() }),
	}
	for name, option := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := policy(t, retry.Config{}, option)
				var all sync.WaitGroup
				for i := range 1_000 {
					all.Go(func() {
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
						defer cancel()
						ctx, _ = backstay.WithReport(ctx)
						_, err := retry.Do(ctx, p, failing(errDown))
						if err != nil && !errors.Is(err, errDown) && !errors.Is(err, context.DeadlineExceeded) {
							t.Error(err)
						}
					})
				}
				all.Wait()
			})
		})
	}
}
