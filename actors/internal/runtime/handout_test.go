package runtime_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
)

// A worker that drives begins a method, and goes on in the same turn to the
// Takeover of somebody else.
func TestNoMethodBeginsAfterAForeignTakeoverWasApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		begun := make(map[uint64]int) // by epoch
		n := c.openWith(runtime.Config{Observe: func(e runtime.Event) {
			if e.Kind == runtime.MethodDone && e.Method == "first" {
				c.usurp(2)
			}
		}}, hosting(map[string]run{
			"first": func(context.Context, *runtime.Attempt) runtime.End { time.Sleep(time.Second); return value("") },
			"second": func(_ context.Context, a *runtime.Attempt) runtime.End {
				begun[a.Epoch()]++
				return value("")
			},
		}))
		synctest.Wait()
		for _, method := range []string{"first", "second"} {
			c.tell(n, "a", method, "")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(begun) != 1 || begun[3] != 1 {
			t.Errorf("begun, by epoch: %v", begun)
		}
	})
}

// usurp is somebody else's Takeover.
func (c *cluster) usurp(epoch uint64) {
	c.log.Append(journal.Partition{Type: "t"}, record.Encode(&record.Takeover{
		Epoch: epoch, Nonce: record.ID{1}, Owner: "usurper", Partitions: 1, Window: (5 * time.Minute).Milliseconds(),
	}), func(journal.Place, error) {})
}
