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

// The timer was started for the limit that is lifted; it must go on to the one
// above, also where that has room for the context.
func TestALiftedLimitLeavesTheOneAbove(t *testing.T) {
	type maker func(context.Context, backstay.Instant) *lazyctx.Ctx
	for name, outer := range map[string]maker{"new": lazyctx.New, "outer": lazyctx.NewOuter} {
		for _, armed := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				total := outer(context.Background(), in(time.Minute))
				defer total.Cancel()
				c := lazyctx.New(total, in(time.Second))
				defer c.Cancel()
				if armed {
					c.Done()
				}
				if !c.Lift() {
					t.Fatal("the limit has not passed")
				}
				<-c.Done()
				if took := time.Since(began); took != time.Minute || c.Expired() || !total.Expired() {
					t.Errorf("%s, armed %v: it ended after %v", name, armed, took)
				}
			})
		}
	}
}

// Copies and further attempts are under the same total as the first attempt.
func TestContextsUnderOneAreApart(t *testing.T) {
	total := lazyctx.NewOuter(context.Background(), in(time.Hour))
	var under [3]*lazyctx.Ctx
	for i := range under {
		under[i] = lazyctx.New(total, in(time.Minute))
		under[i].Done()
	}
	under[0].Cancel()
	if under[0].Err() == nil || under[1].Err() != nil || under[2].Err() != nil {
		t.Error("one of them ends with another")
	}
	total.Cancel()
	for _, c := range under[1:] {
		select {
		case <-c.Done():
		default:
			t.Error("it outlives the one above")
		}
	}
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
		other := c.AfterFunc(func() { ran += 1000 })
		if !stop() || stop() || !other() || other() {
			t.Error("stop must report true once")
		}
		again := c.AfterFunc(func() { ran += 10_000 }) // where the first one was
		if stop() || !again() {
			t.Error("stop must take back its own")
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

// What waiting costs where the root can end too: the channel, the timer, what
// both call, and the hook on the root. A child of the standard library's costs
// itself, the way to end it, and what takes it off again.
func TestWhatWaitingCosts(t *testing.T) {
	root := t.Context() // which can end
	const waiting, child = 5, 5
	for name, c := range map[string]struct {
		limit float64
		f     func(*lazyctx.Ctx)
	}{
		"nobody":            {1, func(c *lazyctx.Ctx) { lazyctx.New(c, in(time.Minute)).Cancel() }},
		"one under another": {1 + waiting, func(c *lazyctx.Ctx) { attempt := lazyctx.New(c, in(time.Minute)); attempt.Done(); attempt.Cancel() }},
		"a child": {1 + waiting + child, func(c *lazyctx.Ctx) {
			_, cancel := context.WithCancel(c)
			cancel()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Allocs(t, c.limit, func() {
				total := lazyctx.NewOuter(root, in(time.Hour))
				c.f(total)
				total.Cancel()
			})
		})
	}
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

// As the standard library has it: its own contexts panic where a parent that is
// done has no error.
func TestWhoeverFindsTheChannelClosedSeesTheError(t *testing.T) {
	for range 5_000 {
		c := lazyctx.New(t.Context(), backstay.Now().Add(time.Hour))
		done := c.Done()
		go c.Cancel()
		for closed := false; !closed; {
			err := c.Err()
			select {
			case <-done:
				closed = true
				if c.Err() == nil {
					t.Fatal("the channel is closed, and there is no error")
				}
			default:
				if err != nil {
					t.Fatal("there is an error, and the channel is not closed")
				}
			}
		}
	}
}
