package runtime_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
)

// A callback does not begin while its ancestor still computes (H5).
func TestACallbackWaitsUntilItsAncestorAwaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		computing, overlap := false, false
		methods := callbacks()
		methods["main"] = func(ctx context.Context, a *runtime.Attempt) runtime.End {
			p, _ := a.Go(record.Call{Target: actor("t", "b"), Method: "task", Args: []byte("a")})
			q, _ := a.Go(record.Call{Target: actor("t", "c"), Method: "get"})
			_, _ = q.Await(ctx) // both are out
			computing = true
			time.Sleep(time.Second)
			computing = false
			_, _ = p.Await(ctx)
			return value("")
		}
		methods["task"] = func(ctx context.Context, a *runtime.Attempt) runtime.End {
			time.Sleep(100 * time.Millisecond) // until main computes
			_, err := nested(ctx, a, actor("t", "a"), "callback", "")
			return value(code(err))
		}
		methods["callback"] = func(context.Context, *runtime.Attempt) runtime.End { overlap = overlap || computing; return value("") }
		n := c.open(hosting(methods))
		if c.call(n, "a", "main", ""); overlap {
			t.Error("the callback ran beside its ancestor")
		}
	})
}

// Acceptance case A47.
func TestA47_ContextsEndAsSoonAsTheTakeoverIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		ended := make(chan error, 1)
		l := new(link)
		host := func(first bool) runtime.Type {
			return hosting(map[string]run{"hang": func(ctx context.Context, _ *runtime.Attempt) runtime.End {
				if first {
					<-ctx.Done()
					ended <- context.Cause(ctx)
				}
				return value("")
			}})
		}
		zombie := c.openOn(l, runtime.Config{}, host(true))
		c.tell(zombie, "a", "hang", "")
		synctest.Wait()
		l.evict()
		c.open(host(false))
		start := time.Now()
		if err := <-ended; !errors.Is(err, runtime.ErrLost) || time.Since(start) > time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		kill(zombie)
	})
}

// turning is a log that turns the order of two sends round, once, and
// acknowledges both (H14).
type turning struct {
	journal.Log
	mu   sync.Mutex
	held func()
	done bool
}

func (l *turning) Append(p journal.Partition, data []byte, done func(journal.Place, error)) {
	l.mu.Lock()
	if p.Type != "u" || l.done {
		l.mu.Unlock()
		l.Log.Append(p, data, done)
		return
	}
	if l.held == nil {
		l.held = func() { l.Log.Append(p, data, done) }
		l.mu.Unlock()
		return
	}
	held := l.held
	l.done = true
	l.mu.Unlock()
	l.Log.Append(p, data, done)
	held()
}

func TestSendsThatTheLogTurnedRoundAreSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		var mu sync.Mutex
		var got string
		right := c.log
		c.open(named("u", map[string]run{"note": func(_ context.Context, a *runtime.Attempt) runtime.End {
			mu.Lock()
			got += args(a)
			mu.Unlock()
			return value("")
		}}))
		synctest.Wait()
		c.log = &turning{Log: right}
		n := c.openOn(new(link), runtime.Config{Patience: time.Hour}, hosting(map[string]run{"main": func(_ context.Context, a *runtime.Attempt) runtime.End {
			for i := range 4 {
				_ = a.Tell(record.Call{Target: actor("u", "x"), Method: "note", Args: []byte(strconv.Itoa(i))})
			}
			return value("")
		}}))
		c.nodes = append(c.nodes, n)
		c.log = right
		c.call(n, "a", "main", "")
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if got != "0123" {
			t.Errorf("got %q", got)
		}
	})
}

// Acceptance case A44.
func TestA44_WhileStoppingOnlyWhatARunningChainCallsStillBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		defer c.stop()
		var mu sync.Mutex
		var ran []string
		note := func(s string) { mu.Lock(); ran = append(ran, s); mu.Unlock() }
		n := c.openOn(new(link), runtime.Config{}, hosting(map[string]run{
			"main": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				time.Sleep(time.Second)
				v, err := nested(ctx, a, actor("t", "b"), "inner", "")
				note("main " + v + code(err))
				return value("")
			},
			"inner": func(context.Context, *runtime.Attempt) runtime.End { return value("ok") },
			"other": func(context.Context, *runtime.Attempt) runtime.End { note("other"); return value("") },
		}))
		c.tell(n, "a", "main", "")
		c.tell(n, "a", "other", "")
		synctest.Wait()
		start := time.Now()
		if err := n.Stop(t.Context()); err != nil || time.Since(start) > 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		mu.Lock()
		defer mu.Unlock()
		if len(ran) != 1 || ran[0] != "main ok" {
			t.Errorf("ran %v", ran)
		}
	})
}
