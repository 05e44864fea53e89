package runtime_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
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
	if n, err := contended(t, false); code(err) != runtime.CodePoison || n <= 2 {
		t.Errorf("the test proves nothing: where nobody can be asked there are %d takeovers, and then %v", n, err)
	}
}

// unheard is a log whose membership answers no question, and whose snapshots
// cannot be read at first.
type unheard struct {
	journal.Log
	failures int
}

func (u *unheard) Join(ctx context.Context, m journal.Member) (journal.Membership, error) {
	member, err := u.Log.Join(ctx, m)
	return silence{member}, err
}

func (u *unheard) Manifest(ctx context.Context, p partition) (journal.Manifest, bool, error) {
	if u.failures--; u.failures >= 0 {
		return journal.Manifest{}, false, errCut
	}
	return u.Log.Manifest(ctx, p)
}

type silence struct{ journal.Membership }

func (silence) Confirmed(partition, backstay.Instant) (bool, <-chan struct{}) {
	return false, make(chan struct{})
}

// Where the log fails and works again, a claim does not wait for who shares the
// partitions out.
func TestAClaimThatHasTakenNothingOverIsRepeatedUnasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		c.log = &unheard{Log: c.log, failures: 3}
		n := c.open(hosting(counter()))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if v, err := call(ctx, n, "a", "inc", ""); err != nil || v != "1" {
			t.Errorf("%q, %v", v, err)
		}
	})
}
