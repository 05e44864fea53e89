package runtime_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
)

// Acceptance case A1.
func TestA1_ACallReturnsTheMethodsValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		n := c.open(hosting(map[string]run{"echo": func(_ context.Context, a *runtime.Attempt) runtime.End { return value("<" + args(a) + ">") }}))
		if v := c.call(n, "a", "echo", "x"); v != "<x>" {
			t.Errorf("got %q", v)
		}
		if v := c.call(c.open(), "a", "echo", "y"); v != "<y>" {
			t.Errorf("got %q from another process", v)
		}
	})
}

// Acceptance case A2.
func TestA2_AMethodsErrorIsAResultAndNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		runs := 0
		n := c.open(hosting(map[string]run{"fail": func(context.Context, *runtime.Attempt) runtime.End { runs++; return failed("app.no") }}))
		if _, err := call(t.Context(), n, "a", "fail", ""); code(err) != "app.no" || runs != 1 {
			t.Errorf("got %v after %d runs", err, runs)
		}
	})
}

// Acceptance case A3.
func TestA3_UnknownMethodsAndTypesAreErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		n := c.open(hosting(map[string]run{"known": func(context.Context, *runtime.Attempt) runtime.End { return value("") }}))
		if _, err := call(t.Context(), n, "a", "unknown", ""); code(err) != runtime.CodeNoMethod {
			t.Errorf("method: got %v", err)
		}
		bare, err := runtime.Open(t.Context(), typeless{c.log}, runtime.Config{})
		if err != nil {
			t.Fatal(err)
		}
		c.nodes = append(c.nodes, bare)
		if _, err := call(t.Context(), bare, "a", "known", ""); !errors.Is(err, journal.ErrNoType) {
			t.Errorf("type: got %v", err)
		}
	})
}

// typeless is a log without types.
type typeless struct{ journal.Log }

func (typeless) Count(context.Context, string) (uint32, error) { return 0, journal.ErrNoType }

// Acceptance case A4.
func TestA4_ATellReturnsWhenTheLogHasItAndSurvivesACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		client := c.open()
		ran := make(chan string, 10)
		methods := map[string]run{"note": func(_ context.Context, a *runtime.Attempt) runtime.End { ran <- args(a); return value("") }}
		l := new(link)
		first := c.openOn(l, runtime.Config{}, hosting(methods))
		synctest.Wait()
		l.crash()
		c.tell(client, "a", "note", "x")
		synctest.Wait()
		if len(ran) > 0 {
			t.Error("a dead owner ran it")
		}
		c.open(hosting(methods))
		if v := <-ran; v != "x" {
			t.Errorf("got %q", v)
		}
		kill(first)
	})
}

// Acceptance case A6, A7.
func TestA6_ActorsAreActivatedBeforeTheirFirstMethodAndAFailureFailsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		typ := hosting(map[string]run{"who": func(_ context.Context, a *runtime.Attempt) runtime.End {
			s, _ := a.Instance().(string)
			return value(s)
		}})
		made, fails := 0, true
		typ.Activate = func(_ context.Context, a *runtime.Attempt) (any, *runtime.End) {
			if fails {
				end := failed("no")
				return nil, &end
			}
			made++
			return a.Request().Target.Actor + strconv.Itoa(made), nil
		}
		n := c.open(typ)
		if _, err := call(t.Context(), n, "a", "who", ""); code(err) != "no" {
			t.Errorf("got %v", err)
		}
		fails = false
		if v := c.call(n, "a", "who", "") + c.call(n, "a", "who", ""); v != "a1a1" {
			t.Errorf("got %q", v)
		}
	})
}

// Acceptance case A8.
func TestA8_CallsOfOneCallerToOneActorRunInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		var got []string
		n := c.open(hosting(map[string]run{"note": func(_ context.Context, a *runtime.Attempt) runtime.End { got = append(got, args(a)); return value("") }}))
		for i := range 20 {
			c.tell(n, "a", "note", strconv.Itoa(i))
		}
		c.call(n, "a", "note", "end")
		if s := strings.Join(got, " "); s != "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 end" {
			t.Errorf("ran %s", s)
		}
	})
}

// Acceptance case A9.
func TestA9_ConcurrentIncrementsOfAnUnsynchronisedFieldAreAllCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		var field int
		n := c.open(hosting(map[string]run{"inc": func(ctx context.Context, a *runtime.Attempt) runtime.End {
			field++
			set(a, "n", count(ctx, a, "n")+1)
			return value(strconv.Itoa(field) + "/" + strconv.Itoa(count(ctx, a, "n")))
		}}))
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() { c.call(n, "a", "inc", "") })
		}
		all.Wait()
		if v := c.call(n, "a", "inc", ""); v != "201/201" {
			t.Errorf("got %q", v)
		}
	})
}

// Acceptance case A9.
func TestA9_DifferentActorsRunInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		n := c.open(hosting(map[string]run{"wait": func(context.Context, *runtime.Attempt) runtime.End { time.Sleep(time.Second); return value("") }}))
		start := time.Now()
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() { c.call(n, strconv.Itoa(i), "wait", "") })
		}
		all.Wait()
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("took %v", d)
		}
	})
}

// Acceptance case A10.
func TestA10_IdleActorsArePassivatedAndWhatArrivesMeanwhileIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		var made, dropped atomic.Int32
		typ := hosting(map[string]run{"hit": func(_ context.Context, a *runtime.Attempt) runtime.End {
			open, _ := a.Instance().(*atomic.Bool)
			return value(strconv.FormatBool(open.Load()))
		}})
		typ.IdleAfter = time.Minute
		typ.Activate = func(context.Context, *runtime.Attempt) (any, *runtime.End) {
			made.Add(1)
			open := new(atomic.Bool)
			open.Store(true)
			return open, nil
		}
		typ.Passivate = func(_ context.Context, _ string, instance any) {
			open, _ := instance.(*atomic.Bool)
			open.Store(false)
			time.Sleep(10 * time.Second)
			dropped.Add(1)
		}
		n := c.open(typ)
		c.call(n, "a", "hit", "")
		time.Sleep(61 * time.Second) // in the middle of Passivate
		if v := c.call(n, "a", "hit", ""); v != "true" || made.Load() != 2 || dropped.Load() != 1 {
			t.Errorf("open %s, made %d, dropped %d", v, made.Load(), dropped.Load())
		}
		for i := range 1000 {
			c.call(n, strconv.Itoa(i), "hit", "")
		}
		time.Sleep(3 * time.Minute)
		if live := n.Inspect(t.Context()).Partitions[0].Instances; live != 0 {
			t.Errorf("%d instances are left", live)
		}
	})
}

// Acceptance case A11.
func TestA11_ClearRemovesInstanceAndState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		made := 0
		typ := hosting(map[string]run{
			"inc": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				set(a, "n", count(ctx, a, "n")+1)
				return value(strconv.Itoa(count(ctx, a, "n")))
			},
			"delete": func(_ context.Context, a *runtime.Attempt) runtime.End { _ = a.Clear(); return value("") },
		})
		typ.Activate = func(context.Context, *runtime.Attempt) (any, *runtime.End) { made++; return made, nil }
		n := c.open(typ)
		c.call(n, "a", "inc", "")
		c.call(n, "a", "delete", "")
		if v := c.call(n, "a", "inc", ""); v != "1" || made != 2 {
			t.Errorf("counted %s, activated %d times", v, made)
		}
	})
}

// Acceptance case A76.
func TestA76_AResendWithTheSameKeyGetsTheFirstAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		runs := 0
		n := c.open(hosting(map[string]run{"pay": func(context.Context, *runtime.Attempt) runtime.End { runs++; return value(strconv.Itoa(runs)) }}))
		keyed := runtime.ClientCall{Target: actor("t", "a"), Method: "pay", Key: "k"}
		for _, from := range []*runtime.Node{n, n, c.open()} {
			if v, err := result(from.Call(t.Context(), keyed)); v != "1" || err != nil {
				t.Errorf("got %q, %v", v, err)
			}
		}
	})
}

// Acceptance case A78.
func TestA78_AKeyedClientThatResendsForEverRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		runs := 0
		n := c.open(hosting(map[string]run{"pay": func(context.Context, *runtime.Attempt) runtime.End { runs++; return value(strconv.Itoa(runs)) }}))
		keyed := runtime.ClientCall{Target: actor("t", "a"), Method: "pay", Key: "k"}
		for range 20 {
			if v, err := result(n.Call(t.Context(), keyed)); v != "1" || err != nil {
				t.Errorf("got %q, %v", v, err)
			}
			time.Sleep(4 * time.Minute) // within the window of the last
		}
	})
}

// Acceptance case A77, A80.
func TestA80_KeysOfARetriedStepAreTheSameAndIdsAreFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		var keys, ids, own []string
		n := c.open(hosting(map[string]run{
			"main": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				own = append(own, a.Key("charge"))
				_, _ = nested(ctx, a, actor("t", "bank"), "pay", "")
				_, _ = nested(ctx, a, actor("t", "bank"), "pay", "")
				if a.Number() == 1 {
					return again("once more")
				}
				return value("")
			},
			"pay": func(_ context.Context, a *runtime.Attempt) runtime.End {
				keys, ids = append(keys, a.Request().Key), append(ids, a.Request().ID.String())
				return value("")
			},
		}))
		c.call(n, "a", "main", "")
		if len(keys) != 4 || keys[0] != keys[2] || keys[1] != keys[3] || keys[0] == keys[1] {
			t.Errorf("keys %v", keys)
		}
		if len(own) != 2 || own[0] != own[1] {
			t.Errorf("own keys %v", own)
		}
		if ids[0] == ids[2] {
			t.Error("a retry used an id again")
		}
	})
}

// Acceptance case A83.
func TestA83_AnErrorDiscardsWhatWasWrittenSinceTheLastRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		told := make(chan struct{}, 1)
		n := c.open(hosting(map[string]run{
			"main": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				set(a, "kept", 1)
				_, _ = nested(ctx, a, actor("t", "b"), "nothing", "")
				set(a, "lost", 1)
				_ = a.Tell(record.Call{Target: actor("t", "c"), Method: "told"})
				return failed("no")
			},
			"nothing": func(context.Context, *runtime.Attempt) runtime.End { return value("") },
			"told":    func(context.Context, *runtime.Attempt) runtime.End { told <- struct{}{}; return value("") },
			"get": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				return value(strconv.Itoa(count(ctx, a, "kept")) + strconv.Itoa(count(ctx, a, "lost")))
			},
		}))
		_, _ = call(t.Context(), n, "a", "main", "")
		if v := c.call(n, "a", "get", ""); v != "10" || len(told) > 0 {
			t.Errorf("state %s, told %d", v, len(told))
		}
	})
}
