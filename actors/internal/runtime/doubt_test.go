package runtime_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// ranByTheReplaced is how often a method runs at an owner that was replaced
// while it did not run, when it goes on and reads what it missed: a request, or
// its own Begun if begins are recorded, then the Takeover.
func ranByTheReplaced(t *testing.T, noticed, recorded bool) (runs int64) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		var first, second atomic.Int64
		host := func(runs *atomic.Int64) runtime.Type {
			typ := hosting(map[string]run{"main": func(context.Context, *runtime.Attempt) runtime.End {
				runs.Add(1)
				return value("")
			}})
			typ.StrictBegin = recorded
			return typ
		}
		l := new(link)
		sleep := func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.blind, l.slow = true, true
		}
		l.after = func(_ int, _ partition, r record.Record) (lost bool) {
			if _, begun := r.(*record.Begun); begun {
				sleep()
				return true
			}
			return false
		}
		zombie := c.openOn(l, runtime.Config{}, host(&first))
		synctest.Wait()
		if !recorded {
			sleep()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var caller sync.WaitGroup
		defer caller.Wait()
		caller.Go(func() { _, _ = call(ctx, c.open(), "a", "main", "") })
		synctest.Wait()
		l.evict()
		c.open(host(&second))
		synctest.Wait()
		if second.Load() != 1 {
			t.Errorf("the new owner has run it %d times", second.Load())
		}
		if noticed {
			l.pause()
		}
		l.see()
		time.Sleep(time.Second)
		synctest.Wait()
		runs = first.Load()
		kill(zombie)
	})
	return runs
}

// Acceptance case A47.
func TestA47_AfterAPauseNothingBeginsBeforeItIsKnownWhoOwns(t *testing.T) {
	for _, recorded := range []bool{false, true} {
		if n := ranByTheReplaced(t, true, recorded); n > 0 {
			t.Errorf("it ran %d times; begins are recorded: %t", n, recorded)
		}
		if n := ranByTheReplaced(t, false, recorded); n == 0 {
			t.Errorf("the test proves nothing: nothing runs when the pause is not noticed either; begins are recorded: %t", recorded)
		}
	}
}

func TestWhoOwnsStillAfterAPauseGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		l := new(link)
		n := c.openOn(l, runtime.Config{}, hosting(map[string]run{"get": func(context.Context, *runtime.Attempt) runtime.End { return value("x") }}))
		c.nodes = append(c.nodes, n)
		for range 3 {
			l.pause()
			if got := c.call(n, "a", "get", ""); got != "x" {
				t.Errorf("got %q", got)
			}
		}
	})
}
