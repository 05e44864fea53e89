package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// Acceptance case A69.
func TestA69_AQueuedCalleeWhoseCallerIsGoneIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 8)
		defer c.stop()
		ran := 0
		var mu sync.Mutex
		methods := map[string]run{
			"main": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				if a.Number() > 1 || a.Epoch() > 1 {
					return value("retried")
				}
				_, _ = nested(ctx, a, actor("u", "b"), "inner", "")
				return value("")
			},
		}
		others := named("u", map[string]run{
			"busy":  func(context.Context, *runtime.Attempt) runtime.End { time.Sleep(20 * time.Second); return value("") },
			"inner": func(context.Context, *runtime.Attempt) runtime.End { mu.Lock(); ran++; mu.Unlock(); return value("") },
		})
		client := c.open(others)
		if err := client.Tell(t.Context(), runtime.ClientCall{Target: actor("u", "b"), Method: "busy"}); err != nil {
			t.Fatal(err)
		}
		orphans := hosting(methods)
		orphans.CancelOrphans = true
		l := new(link)
		first := c.openOn(l, runtime.Config{}, orphans)
		start := time.Now()
		done := make(chan string)
		go func() { done <- c.call(client, "a", "main", "") }()
		time.Sleep(time.Second)
		l.crash()
		c.open(orphans)
		if v := <-done; v != "retried" || time.Since(start) > 15*time.Second {
			t.Errorf("got %q after %v", v, time.Since(start))
		}
		time.Sleep(time.Minute)
		if mu.Lock(); ran != 0 {
			t.Errorf("the callee ran")
		}
		mu.Unlock()
		kill(first)
	})
}

// Acceptance case A74.
func TestA74_AFullMailboxRefusesAtOnceAndOthersGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		typ := hosting(map[string]run{"slow": func(context.Context, *runtime.Attempt) runtime.End { time.Sleep(time.Second); return value("") }})
		typ.Mailbox = 3
		n := c.open(typ)
		synctest.Wait()
		var all sync.WaitGroup
		var mu sync.Mutex
		ended := make(map[string]int)
		start := time.Now()
		for range 10 {
			all.Go(func() {
				_, err := call(t.Context(), n, "a", "slow", "")
				mu.Lock()
				defer mu.Unlock()
				ended[code(err)]++
				if err != nil && time.Since(start) > 10*time.Millisecond {
					t.Errorf("refused after %v", time.Since(start))
				}
			})
		}
		synctest.Wait()
		if c.call(n, "b", "slow", ""); time.Since(start) > 1100*time.Millisecond {
			t.Error("another actor waited")
		}
		all.Wait()
		if ended[""] != 3 || ended[runtime.CodeRefused] != 7 {
			t.Errorf("ended %v", ended)
		}
	})
}

// Acceptance case A74.
func TestA74_ANewOwnerRefusesTheNewestOfAMailboxThatWasFilledMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		client := c.open()
		var all sync.WaitGroup
		var mu sync.Mutex
		var refused []int
		for i := range 6 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				if _, err := call(t.Context(), client, "a", "slow", ""); code(err) == runtime.CodeRefused {
					mu.Lock()
					refused = append(refused, i)
					mu.Unlock()
				}
			})
		}
		time.Sleep(time.Second)
		typ := hosting(map[string]run{"slow": func(context.Context, *runtime.Attempt) runtime.End { time.Sleep(time.Second); return value("") }})
		typ.Mailbox = 4
		c.open(typ)
		all.Wait()
		if slices.Sort(refused); !slices.Equal(refused, []int{4, 5}) {
			t.Errorf("refused %v", refused)
		}
	})
}

// Acceptance case A74.
func TestA74_ACallbackIsNotRefusedByAFullMailbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		typ := hosting(callbacks())
		typ.Mailbox = 1
		n := c.open(typ)
		if v := c.call(n, "a", "main", ""); v != "111" {
			t.Errorf("got %q", v)
		}
	})
}

// Acceptance case A75.
func TestA75_TwoRootsThatWaitForEachOtherBothLearnOfItWithTheChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 8)
		defer c.stop()
		n := c.open(hosting(map[string]run{
			"main": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				time.Sleep(time.Second)
				_, err := nested(context.WithoutCancel(ctx), a, actor("t", args(a)), "inner", "")
				var f failure
				if !errors.As(err, &f) {
					return value(fmt.Sprint(err))
				}
				return value(f.Code + "\n" + string(f.Detail))
			},
			"inner": func(context.Context, *runtime.Attempt) runtime.End { return value("") },
		}))
		start := time.Now()
		var all sync.WaitGroup
		for _, pair := range []string{"ab", "ba"} {
			all.Go(func() {
				v := c.call(n, pair[:1], "main", pair[1:])
				if !strings.HasPrefix(v, runtime.CodeDeadlock) || !strings.Contains(v, "t/"+pair[1:]+".main") || !strings.Contains(v, "waits for t/"+pair[:1]+".inner") {
					t.Errorf("%s learned %q", pair[:1], v)
				}
			})
		}
		all.Wait()
		if d := time.Since(start); d > 35*time.Second {
			t.Errorf("after %v", d)
		}
	})
}

// Acceptance case A75.
func TestA75_ParallelCallsOfOneRootThatWaitForEachOtherLearnOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 8)
		defer c.stop()
		var mu sync.Mutex
		var learned []string
		n := c.open(hosting(map[string]run{
			"main": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				one, _ := a.Go(record.Call{Target: actor("t", "b"), Method: "side", Args: []byte("c")})
				two, _ := a.Go(record.Call{Target: actor("t", "c"), Method: "side", Args: []byte("b")})
				_, _ = one.Await(ctx)
				_, _ = two.Await(ctx)
				return value("done")
			},
			"side": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				time.Sleep(time.Second)
				_, err := nested(context.WithoutCancel(ctx), a, actor("t", args(a)), "end", "")
				mu.Lock()
				learned = append(learned, code(err))
				mu.Unlock()
				return value("")
			},
			"end": func(context.Context, *runtime.Attempt) runtime.End { return value("") },
		}))
		if v := c.call(n, "a", "main", ""); v != "done" || !slices.Contains(learned, runtime.CodeDeadlock) {
			t.Errorf("got %q, learned %v", v, learned)
		}
	})
}

// Acceptance case A75.
func TestA75_ANewRootFromWithinAMethodToItsOwnActorLearnsOfItsDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		var n *runtime.Node
		typ := hosting(map[string]run{
			"main": func(context.Context, *runtime.Attempt) runtime.End {
				_, err := call(context.Background(), n, "a", "inner", "")
				return value(code(err))
			},
			"inner": func(context.Context, *runtime.Attempt) runtime.End { return value("") },
		})
		n = c.open(typ)
		if v := c.call(n, "a", "main", ""); v != runtime.CodeDeadlock {
			t.Errorf("got %q", v)
		}
	})
}

func TestDepthIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		n := c.open(hosting(map[string]run{"down": func(ctx context.Context, a *runtime.Attempt) runtime.End {
			v, err := nested(ctx, a, actor("t", "a"), "down", "")
			if errors.Is(err, runtime.ErrDepth) {
				return value(fmt.Sprint(len(a.Request().Ancestors)))
			}
			return value(v)
		}}))
		if v := c.call(n, "a", "down", ""); v != "64" {
			t.Errorf("got %q", v)
		}
	})
}

func TestWhatIsTooLargeIsRefusedBeforeItIsAppended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		large := make([]byte, 2000)
		var errs []error
		n := c.openWith(runtime.Config{MaxRecord: 1000, MaxAnswer: 1000}, hosting(map[string]run{
			"try": func(_ context.Context, a *runtime.Attempt) runtime.End {
				_, err := a.Go(record.Call{Target: actor("t", "b"), Args: large})
				errs = append(errs, err, a.Set("x", large), a.Tell(record.Call{Target: actor("t", "b"), Args: large}), a.Publish(record.Posted{Topic: "x", Value: large}))
				return runtime.End{Result: record.Result{Value: large}}
			},
		}))
		_, err := call(t.Context(), n, "a", "try", "")
		if code(err) != runtime.CodeTooLarge {
			t.Errorf("result: %v", err)
		}
		_, err = call(t.Context(), n, "a", "try", string(large))
		for _, err := range append(errs, err) {
			if !errors.Is(err, runtime.ErrTooLarge) {
				t.Errorf("got %v", err)
			}
		}
	})
}
