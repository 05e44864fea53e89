package runtime_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// ranByTheReplaced is how often a method runs at an owner that was replaced
// while it did not run, when it goes on and reads what it missed: a request, then
// the Takeover.
func ranByTheReplaced(t *testing.T, noticed bool) (runs int64) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		var first, second atomic.Int64
		host := func(runs *atomic.Int64) runtime.Type {
			return hosting(map[string]run{"main": func(context.Context, *runtime.Attempt) runtime.End {
				runs.Add(1)
				return value("")
			}})
		}
		l := new(link)
		zombie := c.openOn(l, runtime.Config{}, host(&first))
		synctest.Wait()
		l.mu.Lock()
		l.blind, l.slow = true, true
		l.mu.Unlock()
		c.tell(zombie, "a", "main", "")
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
		synctest.Wait()
		runs = first.Load()
		kill(zombie)
	})
	return runs
}

// Acceptance case A47.
func TestA47_AfterAPauseNothingBeginsBeforeItIsKnownWhoOwns(t *testing.T) {
	if n := ranByTheReplaced(t, true); n > 0 {
		t.Errorf("it ran %d times", n)
	}
	if n := ranByTheReplaced(t, false); n == 0 {
		t.Error("the test proves nothing: nothing runs when the pause is not noticed either")
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
