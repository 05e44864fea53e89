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
	"github.com/backstay-go/backstay/actors/journal"
)

// longer than clients wait until they ask again, and at no moment at which they do.
const longer = 4330 * time.Millisecond

// A client that has waited for an answer asks again. What runs already is not run
// beside itself; what has ended, and whose answer was lost, is.
func TestACopyOfAReadThatRunsIsNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		var ran atomic.Int64
		typ := hosting(counter())
		typ.Methods["slow"] = runtime.Method{Read: func(context.Context, *runtime.Reading) record.Result {
			ran.Add(1)
			time.Sleep(longer)
			return record.Result{Value: []byte("seen")}
		}}
		mute := new(link)
		defer stopNow(t, c.openOn(mute, runtime.Config{}, typ))
		client := c.open()
		read := func() {
			if v, err := result(client.Read(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "slow", TTL: -1})); v != "seen" || err != nil {
				t.Errorf("read %q, %v", v, err)
			}
		}
		if read(); ran.Load() != 1 {
			t.Errorf("it was run %d times", ran.Load())
		}
		say := func(nothing bool) {
			mute.mu.Lock()
			defer mute.mu.Unlock()
			mute.mute = nothing
		}
		say(true)
		time.AfterFunc(longer+longer/2, func() { say(false) })
		if read(); ran.Load() != 3 {
			t.Errorf("after an answer was lost it was run %d times", ran.Load()-1)
		}
	})
}

// slowShelf is a log whose chunks come slowly.
type slowShelf struct {
	journal.Log
	reads atomic.Int64
}

func (s *slowShelf) Chunk(ctx context.Context, p journal.Partition, c journal.Chunk) ([]byte, error) {
	s.reads.Add(1)
	time.Sleep(longer)
	return s.Log.Chunk(ctx, p, c)
}

// shelved returns a node of counters that has loaded none of them: one is on a shelf.
func (c *cluster) shelved() (*runtime.Node, *slowShelf) {
	c.Helper()
	first := c.openWith(runtime.Config{SnapshotRecords: 1}, hosting(counter()))
	c.call(first, "a", "inc", "")
	time.Sleep(time.Second)
	stopNow(c.T, first)
	shelf := &slowShelf{Log: c.log}
	c.log = shelf
	return c.open(hosting(counter())), shelf
}

func TestACopyOfAListThatIsReadIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		n, shelf := c.shelved()
		all, err := n.List(t.Context(), record.Partition{Type: "t"}, "")
		if err != nil || len(all) != 1 {
			t.Errorf("%v, %v", all, err)
		}
		time.Sleep(30 * time.Second)
		if reads := shelf.reads.Load(); reads != 1 {
			t.Errorf("the chunk was read %d times", reads)
		}
	})
}

func TestListsThatAreReadSlowlyWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		n, _ := c.shelved()
		var lists sync.WaitGroup
		for range 2 {
			lists.Go(func() {
				if all, err := n.List(t.Context(), record.Partition{Type: "t"}, ""); err != nil || len(all) != 1 {
					t.Errorf("%v, %v", all, err)
				}
			})
		}
		lists.Wait()
	})
}
