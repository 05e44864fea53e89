package runtime_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/memory"
)

// Acceptance case A5.
func TestA5_ATellsErrorIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		n := c.open(hosting(map[string]run{"fail": func(context.Context, *runtime.Attempt) runtime.End { return failed("app.no") }}))
		c.tell(n, "a", "fail", "")
		synctest.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		if !slices.ContainsFunc(c.heard, func(e runtime.Event) bool {
			return e.Kind == runtime.MethodDone && e.Tell && e.Code == "app.no" && e.Actor == "a" && e.Method == "fail"
		}) {
			t.Errorf("heard %+v", c.heard)
		}
		if p := n.Inspect(t.Context()).Partitions[0]; p.Requests != 0 {
			t.Errorf("%d requests are left", p.Requests)
		}
	})
}

func TestInspectTellsWhatRunsAndWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		n := c.open(hosting(map[string]run{
			"outer": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				_, _ = nested(ctx, a, actor("t", "b"), "inner", "")
				return value("")
			},
			"inner": func(context.Context, *runtime.Attempt) runtime.End { time.Sleep(20 * time.Second); return value("") },
		}))
		var all sync.WaitGroup
		all.Go(func() { c.call(n, "a", "outer", "") })
		time.Sleep(10 * time.Second)
		all.Go(func() { c.call(n, "a", "outer", "") })
		synctest.Wait()
		i := n.Inspect(t.Context())
		p := i.Partitions[0]
		if i.Calls != 2 || p.Phase != runtime.PhaseOwning || p.Requests != 3 || p.Actors != 2 || p.Deepest != "a" || p.Depth != 2 || p.Oldest != 10*time.Second {
			t.Errorf("%+v", i)
		}
		if len(p.Running) != 2 || p.Running[0].ID != "a" || strings.Join(p.Running[0].Waiting, " ") != "t/b.inner" || p.Running[1].Method != "inner" {
			t.Errorf("running: %+v", p.Running)
		}
		if h := n.Health(); !h.Ready || len(h.Problems) != 0 {
			t.Errorf("health: %+v", h)
		}
		all.Wait()
	})
}

func TestAMethodPublishesWithItsStepOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		n := c.open(hosting(map[string]run{"publish": func(_ context.Context, a *runtime.Attempt) runtime.End {
			_ = a.Publish(record.Posted{Topic: "news", Key: "k", Value: a.Request().Args, Headers: []record.Attribute{{Name: "h", Value: []byte("v")}}})
			if args(a) == "bad" {
				return failed("no")
			}
			return value("")
		}}))
		for _, what := range []string{"one", "bad", "two"} {
			_, _ = call(t.Context(), n, "a", "publish", what)
		}
		synctest.Wait()
		news := c.log.(*memory.Log).Messages("news")
		if len(news) != 2 || string(news[0].Value) != "one" || string(news[1].Value) != "two" || headerOf(news[1], runtime.HeaderNumber) != "2" || headerOf(news[1], runtime.HeaderSource) != "t/0" || headerOf(news[0], "h") != "v" {
			t.Errorf("published %+v", news)
		}
	})
}

// An outbox that is full keeps new requests from beginning, not answers from
// going out.
func TestAFullOutboxHoldsNewRequestsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		var mu sync.Mutex
		cut, ran := true, 0
		l := &link{before: func(_ int, p partition, _ record.Record) bool {
			mu.Lock()
			defer mu.Unlock()
			return cut && p.Type == "u"
		}}
		n := c.openOn(l, runtime.Config{OutboxBytes: 10_000, Patience: 5 * time.Second}, hosting(map[string]run{"tell": func(_ context.Context, a *runtime.Attempt) runtime.End {
			mu.Lock()
			ran++
			mu.Unlock()
			_ = a.Tell(record.Call{Target: actor("u", "x"), Method: "x", Args: make([]byte, 3000)})
			return value("")
		}}))
		c.nodes = append(c.nodes, n)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { c.call(n, "a", "tell", "") })
		}
		time.Sleep(time.Second)
		mu.Lock()
		if ran != 4 {
			t.Errorf("%d ran beside a full outbox", ran)
		}
		cut = false
		mu.Unlock()
		all.Wait()
	})
}
