package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// callbacks: a.main -> b.task -> a.callback, which adds one to a's cell.
func callbacks() map[string]run {
	return map[string]run{
		"main": func(ctx context.Context, a *runtime.Attempt) runtime.End {
			set(a, "n", count(ctx, a, "n")+1)
			if _, err := nested(ctx, a, actor("t", "b"), "task", a.Request().Target.Actor); err != nil {
				return value(err.Error())
			}
			set(a, "n", count(ctx, a, "n")+100)
			return value(strconv.Itoa(count(ctx, a, "n")))
		},
		"task": func(ctx context.Context, a *runtime.Attempt) runtime.End {
			v, err := nested(ctx, a, actor("t", args(a)), "callback", "")
			return value(fmt.Sprint(v, err))
		},
		"callback": func(ctx context.Context, a *runtime.Attempt) runtime.End {
			set(a, "n", count(ctx, a, "n")+10)
			return value("")
		},
		"get": func(ctx context.Context, a *runtime.Attempt) runtime.End {
			return value(strconv.Itoa(count(ctx, a, "n")))
		},
	}
}

// Acceptance case A12.
func TestA12_ACallbackSeesAndChangesTheStateOfTheCallerThatWaits(t *testing.T) {
	for _, partitions := range []uint32{1, 8} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, partitions)
			defer c.stop()
			n := c.open(hosting(callbacks()))
			if v := c.call(n, "a", "main", ""); v != "111" {
				t.Errorf("%d partitions: got %q", partitions, v)
			}
		})
	}
}

// Acceptance case A13, A18.
func TestA13_AnUnrelatedRequestWaitsUntilTheWholeFlowHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		var order []string
		note := func(s string) { order = append(order, s) }
		n := c.open(hosting(map[string]run{
			"main": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				_, _ = nested(ctx, a, actor("t", "b"), "task", "")
				note("main")
				return value("")
			},
			"task": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				time.Sleep(time.Second)
				_, _ = nested(ctx, a, actor("t", "a"), "callback", "")
				time.Sleep(time.Second)
				return value("")
			},
			"callback": func(context.Context, *runtime.Attempt) runtime.End { note("callback"); return value("") },
			"other":    func(context.Context, *runtime.Attempt) runtime.End { note("other"); return value("") },
		}))
		var all sync.WaitGroup
		all.Go(func() { c.call(n, "a", "main", "") })
		time.Sleep(100 * time.Millisecond)
		all.Go(func() { c.call(n, "a", "other", "") })
		all.Wait()
		if s := strings.Join(order, " "); s != "callback main other" {
			t.Errorf("ran %s", s)
		}
	})
}

// Acceptance case A14.
func TestA14_DirectSelfCallsAndLongerCirclesWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		n := c.open(hosting(map[string]run{
			"hop": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				path := args(a)
				if path == "" {
					return value(".")
				}
				v, err := nested(ctx, a, actor("t", path[:1]), "hop", path[1:])
				if err != nil {
					return value(err.Error())
				}
				return value(a.Request().Target.Actor + v)
			},
		}))
		if v := c.call(n, "a", "hop", "aa"); v != "aa." {
			t.Errorf("self: got %q", v)
		}
		if v := c.call(n, "a", "hop", "babab"); v != "ababa." {
			t.Errorf("circle: got %q", v)
		}
	})
}

// Acceptance case A15, A85.
func TestA15_ParallelCallsToOneActorDoNotOverlapAndShareOneRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		running, most := 0, 0
		var issued int
		l := &link{after: func(_ int, _ partition, r record.Record) bool {
			if r.Kind() == record.KindIssued {
				issued++
			}
			return false
		}}
		n := c.openOn(l, runtime.Config{}, hosting(map[string]run{
			"main": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				one, _ := a.Go(record.Call{Target: actor("t", "b"), Method: "slow", Args: []byte("1")})
				two, _ := a.Go(record.Call{Target: actor("t", "b"), Method: "slow", Args: []byte("2")})
				three, _ := a.Go(record.Call{Target: actor("t", "c"), Method: "slow", Args: []byte("3")})
				var got []string
				for _, p := range []*runtime.Pending{three, two, one} {
					v, err := result(p.Await(ctx))
					got = append(got, fmt.Sprint(v, err))
				}
				return value(strings.Join(got, " "))
			},
			"slow": func(_ context.Context, a *runtime.Attempt) runtime.End {
				if a.Request().Target.Actor == "b" {
					running++
					most = max(most, running)
					time.Sleep(time.Second)
					running--
				}
				return value(args(a))
			},
		}))
		c.nodes = append(c.nodes, n)
		if v := c.call(n, "a", "main", ""); v != "3<nil> 2<nil> 1<nil>" || most != 1 || issued != 1 {
			t.Errorf("got %q, %d at once, %d Issued", v, most, issued)
		}
	})
}

// Acceptance case A16.
func TestA16_WhatAMethodLeavesBehindIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		var left *runtime.Attempt
		n := c.open(hosting(map[string]run{
			"main":    func(_ context.Context, a *runtime.Attempt) runtime.End { left = a; return value("") },
			"nothing": func(context.Context, *runtime.Attempt) runtime.End { return value("") },
		}))
		c.call(n, "a", "main", "")
		_, goErr := left.Go(record.Call{Target: actor("t", "a"), Method: "nothing"})
		_, _, cellErr := left.Cell(t.Context(), "n")
		for _, err := range []error{goErr, cellErr, left.Set("n", nil), left.Tell(record.Call{Target: actor("t", "a")}), left.Clear()} {
			if !errors.Is(err, runtime.ErrOver) {
				t.Errorf("got %v", err)
			}
		}
	})
}

// Acceptance case A16.
func TestA16_AGoroutineThatAwaitsWhenItsMethodReturnsIsRefusedAndTheStepWaitsForItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		left := make(chan error, 1)
		ended := false
		n := c.open(hosting(map[string]run{
			"main": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				p, _ := a.Go(record.Call{Target: actor("t", "b"), Method: "slow"})
				go func() {
					_, err := p.Await(context.WithoutCancel(ctx))
					left <- err
				}()
				time.Sleep(time.Second)
				return value("")
			},
			"slow": func(context.Context, *runtime.Attempt) runtime.End {
				time.Sleep(10 * time.Second)
				ended = true
				return value("")
			},
		}))
		c.call(n, "a", "main", "")
		if err := <-left; !errors.Is(err, runtime.ErrOver) || !ended {
			t.Errorf("got %v, callee ended %v", err, ended)
		}
	})
}

// Acceptance case A17.
func TestA17_ACalleeThatTailCallsIntoItsCallersActorIsLetIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		n := c.open(hosting(map[string]run{
			"main": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				v, err := nested(ctx, a, actor("t", "b"), "task", "")
				return value(fmt.Sprint(v, err))
			},
			"task": func(context.Context, *runtime.Attempt) runtime.End { return tailTo(actor("t", "a"), "back", "x") },
			"back": func(_ context.Context, a *runtime.Attempt) runtime.End { return value("back " + args(a)) },
		}))
		if v := c.call(n, "a", "main", ""); v != "back x<nil>" {
			t.Errorf("got %q", v)
		}
	})
}

// Acceptance case A28.
func TestA28_AReentrantInvocationMayTailCallWithoutReleasingTheOuter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		var order []string
		n := c.open(hosting(map[string]run{
			"main": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				_, _ = nested(ctx, a, actor("t", "b"), "task", "")
				order = append(order, "main")
				return value("")
			},
			"task": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				_, _ = nested(ctx, a, actor("t", "a"), "one", "")
				return value("")
			},
			"one": func(context.Context, *runtime.Attempt) runtime.End {
				order = append(order, "one")
				time.Sleep(time.Second)
				return tailSelf("two", "")
			},
			"two": func(context.Context, *runtime.Attempt) runtime.End {
				order = append(order, "two")
				return tailTo(actor("t", "c"), "three", "")
			},
			"three": func(context.Context, *runtime.Attempt) runtime.End { order = append(order, "three"); return value("") },
			"other": func(context.Context, *runtime.Attempt) runtime.End { order = append(order, "other"); return value("") },
		}))
		var all sync.WaitGroup
		all.Go(func() { c.call(n, "a", "main", "") })
		time.Sleep(100 * time.Millisecond)
		all.Go(func() { c.call(n, "a", "other", "") })
		all.Wait()
		if !slices.Equal(order, []string{"one", "two", "three", "main", "other"}) {
			t.Errorf("ran %v", order)
		}
	})
}

// A write between the call and the await must not be lost, nor hide what the
// callback writes (H18).
func TestAWriteBetweenCallAndAwaitIsOnRecordBeforeTheCallbackRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		methods := callbacks()
		methods["main"] = func(ctx context.Context, a *runtime.Attempt) runtime.End {
			p, _ := a.Go(record.Call{Target: actor("t", "b"), Method: "task", Args: []byte("a")})
			q, _ := a.Go(record.Call{Target: actor("t", "c"), Method: "get"})
			_, _ = q.Await(ctx) // both are out
			set(a, "n", count(ctx, a, "n")+1)
			_, _ = p.Await(ctx)
			return value(strconv.Itoa(count(ctx, a, "n")))
		}
		n := c.open(hosting(methods))
		if v := c.call(n, "a", "main", ""); v != "11" {
			t.Errorf("got %q", v)
		}
		if v := c.call(n, "a", "get", ""); v != "11" {
			t.Errorf("kept %q", v)
		}
	})
}

// An await that its context cuts short does not return while a callback is on
// the actor (H6).
func TestAnAwaitThatIsCutShortDoesNotReturnBesideACallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		inside, overlap := false, false
		methods := callbacks()
		methods["main"] = func(ctx context.Context, a *runtime.Attempt) runtime.End {
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_, err := nested(short, a, actor("t", "b"), "task", "a")
			overlap = inside
			return value(fmt.Sprint(errors.Is(err, context.DeadlineExceeded)))
		}
		methods["callback"] = func(context.Context, *runtime.Attempt) runtime.End {
			inside = true
			time.Sleep(5 * time.Second)
			inside = false
			return value("")
		}
		methods["task"] = func(ctx context.Context, a *runtime.Attempt) runtime.End {
			_, _ = nested(ctx, a, actor("t", "a"), "callback", "")
			time.Sleep(time.Second)
			return value("")
		}
		n := c.open(hosting(methods))
		if v := c.call(n, "a", "main", ""); v != "true" || overlap {
			t.Errorf("cut short %s, overlap %v", v, overlap)
		}
	})
}

// A goroutine of a method may not change the actor while a callback is on it.
func TestAMethodsGoroutineMayNotWriteBesideACallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		var early, late error
		methods := callbacks()
		methods["main"] = func(ctx context.Context, a *runtime.Attempt) runtime.End {
			var beside sync.WaitGroup
			beside.Go(func() {
				time.Sleep(time.Second)
				early = a.Set("n", nil)
			})
			_, _ = nested(ctx, a, actor("t", "b"), "task", "a")
			late = a.Set("n", []byte("7"))
			beside.Wait()
			return value("")
		}
		methods["callback"] = func(context.Context, *runtime.Attempt) runtime.End { time.Sleep(2 * time.Second); return value("") }
		n := c.open(hosting(methods))
		c.call(n, "a", "main", "")
		if !errors.Is(early, runtime.ErrBusy) || late != nil {
			t.Errorf("beside: %v, after: %v", early, late)
		}
	})
}
