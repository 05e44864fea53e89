package lazyctx_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/lazyctx"
	"github.com/backstay-go/backstay/internal/testkit"
)

func in(d time.Duration) backstay.Instant { return backstay.Now().Add(d) }

func TestErrSeesALimitThatNobodyWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := lazyctx.New(context.Background(), in(time.Second))
		defer c.Cancel()
		time.Sleep(time.Second - 1)
		if err := c.Err(); err != nil {
			t.Fatalf("a nanosecond before the limit: %v", err)
		}
		time.Sleep(time.Nanosecond)
		if err := c.Err(); !errors.Is(err, context.DeadlineExceeded) || !c.Expired() {
			t.Fatalf("at the limit: %v, expired %v", err, c.Expired())
		}
	})
}

func TestDoneClosesAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := lazyctx.New(context.Background(), in(time.Second))
		defer c.Cancel()
		<-c.Done()
		if took := time.Since(began); took != time.Second {
			t.Errorf("took %v", took)
		}
		if context.Cause(c) != context.DeadlineExceeded {
			t.Errorf("cause %v", context.Cause(c))
		}
	})
}

func TestDoneClosesWithTheParentAndKeepsItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("user pressed stop")
		parent, cancel := context.WithCancelCause(context.Background())
		c := lazyctx.New(parent, in(time.Second))
		defer c.Cancel()
		done := c.Done()
		cancel(why)
		<-done
		if c.Err() != context.Canceled || context.Cause(c) != why || c.Expired() {
			t.Errorf("err %v, cause %v, expired %v", c.Err(), context.Cause(c), c.Expired())
		}
	})
}

func TestErrSeesAParentThatEndedUnwatched(t *testing.T) {
	parent, cancel := context.WithCancel(context.Background())
	c := lazyctx.New(parent, in(time.Hour))
	defer c.Cancel()
	cancel()
	if c.Err() != context.Canceled {
		t.Errorf("err %v", c.Err())
	}
	select {
	case <-c.Done():
	default:
		t.Error("Done is open after the end")
	}
}

func TestLiftTakesTheLimitOffAndKeepsTheParents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		c := lazyctx.New(parent, in(time.Second))
		defer c.Cancel()
		done := c.Done()
		if !c.Lift() {
			t.Fatal("not lifted")
		}
		time.Sleep(30 * time.Second)
		if c.Err() != nil {
			t.Fatalf("after lifting: %v", c.Err())
		}
		want, _ := parent.Deadline()
		if got, ok := c.Deadline(); !ok || !got.Equal(want) {
			t.Errorf("deadline %v, want the parent's %v", got, want)
		}
		<-done
		if c.Err() != context.DeadlineExceeded || c.Expired() {
			t.Errorf("err %v, expired %v", c.Err(), c.Expired())
		}
	})
}

func TestLiftComesTooLateAfterTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, armed := range []bool{false, true} {
			c := lazyctx.New(context.Background(), in(time.Second))
			if armed {
				c.Done()
			}
			time.Sleep(2 * time.Second)
			if c.Lift() || !c.Expired() {
				t.Errorf("armed %v: lifted after the limit", armed)
			}
			c.Cancel()
		}
	})
}

func TestDeadlineIsTheEarlierOfBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		parent, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for limit, want := range map[time.Duration]time.Duration{time.Second: time.Second, time.Hour: time.Minute} {
			c := lazyctx.New(parent, in(limit))
			if got, ok := c.Deadline(); !ok || got.Sub(now) != want {
				t.Errorf("limit %v: deadline in %v, want %v", limit, got.Sub(now), want)
			}
			c.Cancel()
		}
	})
}

// The bubble of synctest ends only when every goroutine has: this is also the
// test that children cost none that stays.
func TestChildrenOfTheStandardLibraryEndWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := lazyctx.New(context.Background(), in(time.Second))
		child, cancel := context.WithCancel(c)
		defer cancel()
		grandchild, cancel2 := context.WithTimeout(child, time.Hour)
		defer cancel2()
		<-grandchild.Done()
		if child.Err() != context.DeadlineExceeded {
			t.Errorf("child: %v", child.Err())
		}
		c.Cancel()
	})
}

func TestAfterFuncStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := lazyctx.New(context.Background(), in(time.Second))
		ran := 0
		stop := c.AfterFunc(func() { ran++ })
		c.AfterFunc(func() { ran += 10 })
		if !stop() || stop() {
			t.Error("stop must report true once")
		}
		c.Cancel()
		synctest.Wait()
		late := c.AfterFunc(func() { ran += 100 })
		synctest.Wait()
		if ran != 110 || late() {
			t.Errorf("ran %d", ran)
		}
	})
}

func TestCancelFreesTimerAndParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithCancel(context.Background())
		for range 1000 {
			c := lazyctx.New(parent, in(time.Hour))
			c.Done()
			c.Cancel()
			if c.Err() != context.Canceled {
				t.Fatal(c.Err())
			}
		}
		cancel()
	})
}

// customCtx is a caller's own context type without AfterFunc.
type customCtx struct{ context.Context }

func (c customCtx) Value(any) any { return nil }

func TestAParentOfACustomTypeKeepsNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithCancel(context.Background())
		defer cancel()
		c := lazyctx.New(customCtx{parent}, in(time.Hour))
		c.Done()
		c.Cancel() // the bubble would hang here if its goroutine stayed
	})
}

func TestItCostsOneAllocationUntilSomebodyWaits(t *testing.T) {
	parent, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	testkit.Allocs(t, 1, func() {
		c := lazyctx.New(parent, in(time.Minute))
		if c.Err() != nil || !c.Lift() {
			t.Fatal("ended at once")
		}
		c.Cancel()
	})
}

func TestEndingFromManySides(t *testing.T) {
	for range 200 {
		parent, cancel := context.WithCancel(context.Background())
		c := lazyctx.New(parent, in(50*time.Microsecond))
		go cancel()
		go c.Cancel()
		go c.Lift()
		go c.AfterFunc(func() {})
		<-c.Done()
		if c.Err() == nil {
			t.Fatal("done without an error")
		}
		cancel()
	}
}
