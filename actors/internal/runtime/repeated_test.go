package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/memory"
)

// away is whatever is outside, and fails for as long as there is a fault.
type away struct {
	journal.Log
	journal.Sources
	mu    sync.Mutex
	fault error
	tries int
}

func (a *away) set(fault error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fault = fault
}

// try is the fault, as of this try.
func (a *away) try() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tries++
	if a.fault == nil {
		return nil
	}
	return fmt.Errorf("try %d: %w", a.tries, a.fault)
}

func (a *away) tried() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tries
}

func (a *away) SourceCount(ctx context.Context, topic string) (uint32, error) {
	if err := a.try(); err != nil {
		return 0, err
	}
	return a.Sources.SourceCount(ctx, topic)
}

// stored is a store that is away now and then.
type stored struct {
	journal.StateStore
	*away
}

func (s stored) Load(ctx context.Context, p journal.Partition, actor string) (journal.Row, bool, error) {
	if err := s.try(); err != nil {
		return journal.Row{}, false, err
	}
	return s.StateStore.Load(ctx, p, actor)
}

// count is how often an event of a kind was heard.
func (c *cluster) count(kind runtime.EventKind) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.heard {
		if c.heard[i].Kind == kind {
			n++
		}
	}
	return n
}

var errMissing, errForbidden = errors.New("there is no such topic"), errors.New("it is not for you")

// However many partitions want it, and however often they ask.
func TestATopicThatStaysMissingIsToldOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		topic := &away{Log: c.log, Sources: c.log.(journal.Sources), fault: errMissing}
		c.log = topic
		n := c.open(orders(nil))
		for i, step := range []struct {
			fault error
			lasts time.Duration
			told  int // in all
		}{
			{errMissing, time.Second, 1}, {errMissing, 58 * time.Second, 1}, {errMissing, 3 * time.Second, 2},
			{errForbidden, 3 * time.Second, 3}, {errForbidden, time.Minute, 4}, {nil, 5 * time.Minute, 4},
		} {
			topic.set(step.fault)
			time.Sleep(step.lasts)
			if told := c.count(runtime.AppendFailed); told != step.told {
				t.Errorf("step %d: told %d times, want %d", i, told, step.told)
			}
		}
		if topic.tried() < 100 {
			t.Errorf("it was asked for %d times", topic.tried())
		}
		c.log = topic.Log
		c.publish("a", "x")
		time.Sleep(time.Second)
		if got := c.call(n, "a", "registered", ""); got != "x=1" {
			t.Errorf("it was told %q", got)
		}
	})
}

func TestAStoreThatIsAwayIsAProblemUntilItIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		store := stored{memory.NewStore(), new(away)}
		n := c.openWith(c.counted(store), keeping())
		synctest.Wait()
		store.set(errCut)
		c.tell(n, "a", "inc", "")
		c.tell(n, "b", "inc", "")
		time.Sleep(150 * time.Second)
		h := n.Health()
		if !h.Ready || len(h.Problems) != 1 || !errors.Is(h.Problems[0].Err, errCut) {
			t.Errorf("while it is away: %+v", h)
		}
		if told := c.count(runtime.LoadFailed); told != 3 {
			t.Errorf("told %d times in 150 s", told)
		}
		store.set(nil)
		time.Sleep(15 * time.Second)
		if h := n.Health(); !h.Ready || len(h.Problems) != 0 {
			t.Errorf("when it is back: %+v", h)
		}
		if v := []string{c.call(n, "a", "get", ""), c.call(n, "b", "get", "")}; !slices.Equal(v, []string{"11", "11"}) {
			t.Errorf("counted %q", v)
		}
	})
}
