package runtime_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// contended is how often a partition is taken over while a method of 10 s is on
// its way there, and how that ends, when another is assigned it and the first
// owner does not learn of that.
func contended(t *testing.T, asked bool) (takeovers int64, err error) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		var owned atomic.Int64
		config := runtime.Config{Observe: func(e runtime.Event) {
			if e.Kind == runtime.PartitionOwned {
				owned.Add(1)
			}
		}}
		typ := hosting(map[string]run{"work": func(ctx context.Context, _ *runtime.Attempt) runtime.End {
			select {
			case <-time.After(10 * time.Second):
				return value("")
			case <-ctx.Done():
				return again(ctx.Err().Error())
			}
		}})
		client := c.open()
		first := &link{asked: asked}
		zombie := c.openOn(first, config, typ)
		done := make(chan error)
		go func() {
			_, err := call(t.Context(), client, "a", "work", "")
			done <- err
		}()
		time.Sleep(time.Second)
		first.evict()
		c.openWith(config, typ)
		err = <-done
		kill(zombie)
		takeovers = owned.Load()
	})
	return takeovers, err
}

func TestWhoWasReplacedDoesNotTakeOverAgainBeforeItIsAssignedAnew(t *testing.T) {
	if n, err := contended(t, true); err != nil || n != 2 {
		t.Errorf("%d takeovers, and then %v", n, err)
	}
	if n, err := contended(t, false); code(err) != runtime.CodePoison || n < 6 {
		t.Errorf("the test proves nothing: where nobody can be asked there are %d takeovers, and then %v", n, err)
	}
}
