package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/memory"
)

// measured is a log that counts the chunks that are loaded.
type measured struct {
	journal.Log
	mu    sync.Mutex
	loads int
}

func (m *measured) Chunk(ctx context.Context, p journal.Partition, c journal.Chunk) ([]byte, error) {
	m.mu.Lock()
	m.loads++
	m.mu.Unlock()
	return m.Log.Chunk(ctx, p, c)
}

// take returns what was counted since it was asked last.
func (m *measured) take() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.loads
	m.loads = 0
	return n
}

// keeping hosts counters that also look at what they have.
func keeping() runtime.Type {
	methods := counter()
	methods["all"] = func(ctx context.Context, a *runtime.Attempt) runtime.End {
		cells, err := a.Cells(ctx, "")
		return value(fmt.Sprint(len(cells), err))
	}
	methods["put"] = func(_ context.Context, a *runtime.Attempt) runtime.End {
		_ = a.Set(args(a), []byte("x"))
		return value("")
	}
	methods["clear"] = func(_ context.Context, a *runtime.Attempt) runtime.End {
		_ = a.Clear()
		return value("")
	}
	t := hosting(methods)
	t.Methods["peek"] = runtime.Method{Read: func(ctx context.Context, v *runtime.Reading) record.Result {
		b, _, _ := v.Cell(ctx, "n")
		return record.Result{Value: b}
	}}
	return t
}

func TestAnOwnerStartsWithoutCellsAndLoadsThoseThatAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		log := &measured{Log: c.log}
		c.log = log
		config := runtime.Config{SnapshotRecords: 100, ChunkSize: 200}
		first := c.openOn(new(link), config, keeping())
		for i := range 200 {
			c.call(first, strconv.Itoa(i), "inc", "")
			synctest.Wait()
		}
		if err := first.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		log.take()
		config.SnapshotRecords = 0 // the default: to save reads what it writes anew
		n := c.openWith(config, keeping())
		synctest.Wait()
		if loads := log.take(); loads > 0 {
			t.Errorf("%d chunks were loaded before anybody was used", loads)
		}
		for _, id := range []string{"7", "8", "150"} {
			if v := c.call(n, id, "get", ""); v != "1" {
				t.Errorf("%s counted %s", id, v)
			}
			v, err := result(n.Read(t.Context(), runtime.ClientCall{Target: actor("t", id), Method: "peek"}))
			if v != "1" || err != nil {
				t.Errorf("%s shows %s, %v", id, v, err)
			}
		}
		if loads := log.take(); loads > 3 {
			t.Errorf("%d chunks were loaded for three actors", loads)
		}
	})
}

// An idle actor without an instance keeps its cells until IdleAfter, and has
// them again.
func TestCellsOfAnIdleActorAreDroppedAndComeBackWithAllThatChanged(t *testing.T) {
	for name, idle := range map[string]runtime.Config{"after a while": {}, "for lack of memory": {IdleBytes: 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, 1)
				defer c.stop()
				log := &measured{Log: c.log}
				c.log = log
				idle.SnapshotRecords = 20
				typ := keeping()
				typ.IdleAfter = time.Second
				n := c.openWith(idle, typ)
				for i := range 60 {
					if v := c.call(n, "a", "inc", ""); v != strconv.Itoa(i+1) {
						t.Fatalf("counted %s, want %d", v, i+1)
					}
					time.Sleep(time.Duration(i%3) * 600 * time.Millisecond)
				}
				c.call(n, "a", "put", "other")
				if v := c.call(n, "a", "all", ""); v != "2<nil>" && v != "2 <nil>" {
					t.Errorf("it has %s", v)
				}
				c.call(n, "a", "clear", "")
				time.Sleep(time.Minute)
				if v := c.call(n, "a", "inc", ""); v != "1" {
					t.Errorf("after it was cleared it counted %s", v)
				}
				if loads := log.take(); loads == 0 {
					t.Error("nothing was ever loaded")
				}
			})
		})
	}
}

// stubborn is a store whose loads of one actor hang, then fail, then succeed.
type stubborn struct {
	journal.StateStore
	mu    sync.Mutex
	tries int
}

func (s *stubborn) Load(ctx context.Context, p journal.Partition, actor string) (journal.Row, bool, error) {
	s.mu.Lock()
	if actor == "a" {
		s.tries++
	}
	n := s.tries
	s.mu.Unlock()
	switch {
	case actor == "a" && n == 1:
		<-ctx.Done()
		return journal.Row{}, false, ctx.Err()
	case actor == "a" && n < 4:
		return journal.Row{}, false, errors.New("out of order")
	default:
		return s.StateStore.Load(ctx, p, actor)
	}
}

// counted has the actors a and b count to ten in a store, and returns how a node
// is configured that finds them there.
func (c *cluster) counted(store journal.StateStore) runtime.Config {
	c.Helper()
	config := runtime.Config{SnapshotRecords: 4, State: store}
	first := c.openOn(new(link), config, keeping())
	for range 10 {
		c.call(first, "a", "inc", "")
		c.call(first, "b", "inc", "")
		synctest.Wait()
	}
	stopNow(c.T, first)
	return config
}

func TestALoadThatFailsIsTriedAgainAndKeepsNobodyElseWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		store := &stubborn{StateStore: memory.NewStore(), tries: 9}
		config := c.counted(store)
		store.tries = 0
		n := c.openWith(config, keeping())
		c.tell(n, "a", "inc", "")
		_, late := result(n.Call(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "get", TTL: 1000}))
		if code(late) != runtime.CodeExpired {
			t.Errorf("a request whose actor did not come in time: %v", late)
		}
		if v := c.call(n, "b", "get", ""); v != "10" {
			t.Errorf("b counted %s", v)
		}
		began := time.Now()
		if v := c.call(n, "a", "get", ""); v != "11" {
			t.Errorf("a counted %s", v)
		}
		if took := time.Since(began); took > 15*time.Second || store.tries != 4 {
			t.Errorf("it took %v and %d tries", took, store.tries)
		}
	})
}

func TestAStoreThatHasLostWhatASnapshotCountsOnIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		first := c.openOn(new(link), runtime.Config{SnapshotRecords: 2, State: memory.NewStore()}, keeping())
		for range 4 {
			c.call(first, "a", "inc", "")
			synctest.Wait()
		}
		if err := first.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		for name, config := range map[string]runtime.Config{"an empty store": {State: memory.NewStore()}, "no store": {}} {
			n := c.openOn(new(link), config, keeping())
			synctest.Wait()
			if h := n.Health(); h.Ready || len(h.Problems) != 1 {
				t.Errorf("with %s: %+v", name, h)
			}
			if err := n.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
