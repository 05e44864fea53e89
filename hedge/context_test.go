package hedge_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/hedge"
)

func TestCopiesKnowTheirNumberAndWhereTheOthersWent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, hedge.Config{Delay: delay, MaxCopies: 2})
		avoided := make([][]string, 4)
		got, err := hedge.Do(t.Context(), p, func(ctx context.Context) (int, error) {
			n := hedge.Copy(ctx)
			replica := string(rune('a' + n - 1))
			avoided[n] = hedge.AvoidFrom(ctx)
			hedge.Used(ctx, replica)
			hedge.Used(ctx, replica)
			if n == 3 {
				return n, nil
			}
			return 0, sleep(ctx, time.Hour)
		})
		closed(t, p)
		if got != 3 || err != nil {
			t.Errorf("got %d, %v", got, err)
		}
		for n, want := range [][]string{nil, nil, {"a"}, {"a", "b"}} {
			if !slices.Equal(avoided[n], want) {
				t.Errorf("copy %d avoids %v, want %v", n, avoided[n], want)
			}
		}
	})
}

func TestOutsideAHedgedCallThereIsOneCopyAndNothingToAvoid(t *testing.T) {
	ctx := t.Context()
	hedge.Used(ctx, "a")
	if hedge.Copy(ctx) != 1 || hedge.AvoidFrom(ctx) != nil {
		t.Errorf("copy %d avoids %v", hedge.Copy(ctx), hedge.AvoidFrom(ctx))
	}
}

type valueKey struct{}

// TestACopysContextIsAContext checks, on the first copy and on a later one,
// what the standard library expects of a context.
func TestACopysContextIsAContext(t *testing.T) {
	for _, number := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			p := must(t, hedge.Config{Delay: delay})
			why := errors.New("why")
			parent, cancel := context.WithCancelCause(context.WithValue(t.Context(), valueKey{}, "v"))
			_, err := hedge.Do(parent, p, func(ctx context.Context) (int, error) {
				if hedge.Copy(ctx) != number {
					return 0, sleep(ctx, time.Hour)
				}
				if ctx.Value(valueKey{}) != "v" || ctx.Err() != nil || context.Cause(ctx) != nil {
					t.Errorf("value %v, error %v", ctx.Value(valueKey{}), ctx.Err())
				}
				child, stop := context.WithTimeout(ctx, time.Hour)
				defer stop()
				ran := make(chan bool, 1)
				context.AfterFunc(ctx, func() { ran <- true })
				if ctx.Value(valueKey{}) != "v" || child.Value(valueKey{}) != "v" || hedge.Copy(child) != number {
					t.Error("a value is lost once somebody waits")
				}
				cancel(why)
				<-child.Done()
				<-ran
				if !errors.Is(ctx.Err(), context.Canceled) || !errors.Is(context.Cause(child), why) || !errors.Is(context.Cause(ctx), why) {
					t.Errorf("error %v, cause %v", ctx.Err(), context.Cause(child))
				}
				return 0, ctx.Err()
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			closed(t, p)
		})
	}
}

func TestTheContextOfAnIdleCallEndsWithIt(t *testing.T) {
	for name, wait := range map[string]bool{"somebody waited": true, "nobody waited": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parent, cancel := context.WithCancel(context.WithValue(t.Context(), valueKey{}, "v"))
				defer cancel()
				p := must(t, hedge.Config{Delay: delay})
				var kept context.Context
				_, _ = hedge.Do(parent, p, func(ctx context.Context) (int, error) {
					if kept = ctx; wait {
						_ = ctx.Done()
					}
					return 0, nil
				})
				<-kept.Done()
				if !errors.Is(kept.Err(), context.Canceled) || !errors.Is(context.Cause(kept), context.Canceled) || kept.Value(valueKey{}) != "v" {
					t.Errorf("error %v, cause %v", kept.Err(), context.Cause(kept))
				}
				child, stop := context.WithCancel(kept)
				defer stop()
				<-child.Done()
			})
		})
	}
}

// custom is a context of a type that the standard library does not know.
type custom struct{ context.Context }

func (c custom) Done() <-chan struct{} { return c.Context.Done() }
func (c custom) Value(any) any         { return nil }

// Acceptance case C52.
func TestC52_NoGoroutineStaysUnderACallersOwnKindOfContext(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := must(t, hedge.Config{Delay: time.Minute})
	before := runtime.NumGoroutine()
	for range 1_000 {
		_, _ = hedge.Do(custom{parent}, p, func(ctx context.Context) (int, error) {
			_ = ctx.Done()
			return 0, nil
		})
	}
	for range 100 { // the last ones may still be leaving
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(ms)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// Acceptance case C52.
func TestC52_TheHeapStaysFlatUnderALongLivedParent(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := must(t, hedge.Config{Delay: time.Hour})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const calls = 20_000
	for range calls {
		_, _ = hedge.Do(parent, p, func(ctx context.Context) (int, error) {
			_ = ctx.Done()
			return 0, nil
		})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > calls*50 {
		t.Errorf("%d calls keep %d bytes", calls, kept)
	}
}
