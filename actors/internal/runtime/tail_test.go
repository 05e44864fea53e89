package runtime_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
)

// counter increments by reading, and setting in a tail call.
func counter() map[string]run {
	return map[string]run{
		"inc": func(ctx context.Context, a *runtime.Attempt) runtime.End {
			return tailSelf("set", strconv.Itoa(count(ctx, a, "n")+1))
		},
		"set": func(_ context.Context, a *runtime.Attempt) runtime.End {
			n, _ := strconv.Atoi(args(a))
			set(a, "n", n)
			return value(args(a))
		},
		"get": func(ctx context.Context, a *runtime.Attempt) runtime.End {
			return value(strconv.Itoa(count(ctx, a, "n")))
		},
	}
}

// Acceptance case A19.
func TestA19_TheCallerOfAChainGetsTheLastValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 8)
		defer c.stop()
		n := c.open(hosting(map[string]run{
			"first": func(context.Context, *runtime.Attempt) runtime.End { return tailTo(actor("t", "b"), "second", "1") },
			"second": func(_ context.Context, a *runtime.Attempt) runtime.End {
				return tailTo(actor("t", "c"), "third", args(a)+"2")
			},
			"third": func(_ context.Context, a *runtime.Attempt) runtime.End {
				return tailTo(actor("t", "a"), "last", args(a)+"3")
			},
			"last": func(_ context.Context, a *runtime.Attempt) runtime.End { return value(args(a) + "4") },
		}))
		if v := c.call(n, "a", "first", ""); v != "1234" {
			t.Errorf("got %q", v)
		}
	})
}

// Acceptance case A20.
func TestA20_ASelfTailCallRunsBeforeWhatIsQueued(t *testing.T) {
	order := tailOrder(t, func() runtime.End { return tailSelf("second", "") })
	if order != "first second other" {
		t.Errorf("ran %s", order)
	}
}

// Acceptance case A22.
func TestA22_ASelfTailCallWithReleaseGoesBehindTheQueue(t *testing.T) {
	order := tailOrder(t, func() runtime.End { return tailTo(actor("t", "a"), "second", "") })
	if order != "first other second" {
		t.Errorf("ran %s", order)
	}
}

func tailOrder(t *testing.T, tail func() runtime.End) (order string) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		var ran []string
		n := c.open(hosting(map[string]run{
			"first": func(context.Context, *runtime.Attempt) runtime.End {
				time.Sleep(time.Second)
				ran = append(ran, "first")
				return tail()
			},
			"second": func(context.Context, *runtime.Attempt) runtime.End { ran = append(ran, "second"); return value("") },
			"other":  func(context.Context, *runtime.Attempt) runtime.End { ran = append(ran, "other"); return value("") },
		}))
		var all sync.WaitGroup
		all.Go(func() { c.call(n, "a", "first", "") })
		synctest.Wait()
		all.Go(func() { c.call(n, "a", "other", "") })
		all.Wait()
		order = strings.Join(ran, " ")
	})
	return order
}

// Acceptance case A21.
func TestA21_ATailCallToAnotherActorReleasesTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		n := c.open(hosting(map[string]run{
			"go":   func(context.Context, *runtime.Attempt) runtime.End { return tailTo(actor("t", "b"), "slow", "") },
			"slow": func(context.Context, *runtime.Attempt) runtime.End { time.Sleep(time.Hour); return value("late") },
			"fast": func(context.Context, *runtime.Attempt) runtime.End { return value("fast") },
		}))
		var slow sync.WaitGroup
		slow.Go(func() { c.call(n, "a", "go", "") })
		synctest.Wait()
		start := time.Now()
		c.call(n, "a", "fast", "")
		if d := time.Since(start); d > time.Second {
			t.Errorf("waited %v for the first actor", d)
		}
		slow.Wait()
	})
}

// Acceptance case A23.
func TestA23_GetThenTailSetCountsExactlyWhereverAnOwnerDies(t *testing.T) {
	everyCrash(t, 3, counter(), func(c *cluster, client *runtime.Node) {
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { c.call(client, "a", "inc", "") })
		}
		all.Wait()
		if v := c.call(client, "a", "get", ""); v != "3" {
			c.Errorf("counted %s of 3", v)
		}
	})
}

// everyCrash runs a scenario on two owners, of which the first dies before or
// after its n-th append, for every n until it is not reached any more.
func everyCrash(t *testing.T, partitions uint32, methods map[string]run, scenario func(c *cluster, client *runtime.Node)) {
	t.Helper()
	for n := 1; n < 400; n++ {
		reached := false
		for _, landed := range []bool{false, true} {
			t.Run(fmt.Sprintf("at append %d, landed %v", n, landed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { reached = oneCrash(t, partitions, methods, scenario, n, landed) || reached })
			})
		}
		if !reached || t.Failed() {
			return
		}
	}
	t.Error("the scenario has no end")
}

func oneCrash(t *testing.T, partitions uint32, methods map[string]run, scenario func(c *cluster, client *runtime.Node), at int, landed bool) bool {
	c := newCluster(t, partitions)
	defer c.stop()
	client := c.open()
	l := new(link)
	var once sync.Once
	died := make(chan struct{})
	die := func(n int, _ journal.Partition, _ record.Record) bool {
		if n < at {
			return false
		}
		once.Do(func() {
			l.mu.Lock()
			l.dead = true
			l.mu.Unlock()
			close(died)
		})
		return true
	}
	if landed {
		l.after = die
	} else {
		l.before = die
	}
	first := c.openOn(l, runtime.Config{Name: "first"}, hosting(methods))
	ended := make(chan struct{})
	var eviction sync.WaitGroup
	eviction.Go(func() {
		select {
		case <-died:
			time.Sleep(300 * time.Millisecond)
			l.evict()
			c.openWith(runtime.Config{Name: "second", DeadTopic: "dead"}, hosting(methods))
		case <-ended:
		}
	})
	scenario(c, client)
	close(ended)
	eviction.Wait()
	kill(first)
	select {
	case <-died:
		return true
	default:
		return false
	}
}

// Acceptance case A26.
func TestA26_ATailCallOfATellStaysATellAndOfANestedCallKeepsItsWayBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 8)
		defer c.stop()
		tells := make(chan bool, 1)
		n := c.open(hosting(map[string]run{
			"told": func(context.Context, *runtime.Attempt) runtime.End { return tailTo(actor("t", "z"), "end", "") },
			"end": func(_ context.Context, a *runtime.Attempt) runtime.End {
				tells <- a.Request().Return.Tell()
				return value("")
			},
			"outer": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				v, err := nested(ctx, a, actor("t", "y"), "middle", "")
				return value(fmt.Sprint(v, err))
			},
			"middle": func(context.Context, *runtime.Attempt) runtime.End { return tailTo(actor("t", "x"), "inner", "") },
			"inner":  func(context.Context, *runtime.Attempt) runtime.End { return value("inner") },
		}))
		c.tell(n, "a", "told", "")
		if !<-tells {
			t.Error("the tail of a tell has a way back")
		}
		if v := c.call(n, "a", "outer", ""); v != "inner<nil>" {
			t.Errorf("got %q", v)
		}
	})
}

// Acceptance case A27.
func TestA27_AChainOf10000SelfTailCallsIsNotCutByDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		n := c.openWith(runtime.Config{SnapshotRecords: 1000}, hosting(map[string]run{"hop": func(ctx context.Context, a *runtime.Attempt) runtime.End {
			left, _ := strconv.Atoi(args(a))
			if left%1000 == 0 {
				time.Sleep(time.Second)
			}
			if left == 0 || ctx.Err() != nil {
				return value(fmt.Sprint(left, ctx.Err()))
			}
			return tailSelf("hop", strconv.Itoa(left-1))
		}}))
		v, err := result(n.Call(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "hop", Args: []byte("10000"), TTL: 2000}))
		if err != nil || v != "0 <nil>" {
			t.Errorf("got %q, %v", v, err)
		}
	})
}
