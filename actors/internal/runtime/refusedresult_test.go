package runtime_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/memory"
)

// answering has a method whose result is too large for the log of the far type,
// which calls it, or ends in it.
func answering() (near, far runtime.Type) {
	near = hosting(map[string]run{
		"long":  func(context.Context, *runtime.Attempt) runtime.End { return value(strings.Repeat("x", 5000)) },
		"short": func(context.Context, *runtime.Attempt) runtime.End { return value("y") },
		"fail": func(context.Context, *runtime.Attempt) runtime.End {
			return runtime.End{Result: record.Result{Failure: &record.Failure{Code: "mine", Message: strings.Repeat("x", 5000)}}}
		},
	})
	far = named("far", map[string]run{
		"ask": func(ctx context.Context, a *runtime.Attempt) runtime.End {
			_, err := nested(ctx, a, actor("t", "x"), args(a), "")
			then, behind := nested(ctx, a, actor("t", "x"), "short", "")
			return value(fmt.Sprintf("%v, then %s %v", err, then, behind))
		},
		"tail": func(_ context.Context, a *runtime.Attempt) runtime.End { return tailTo(actor("t", "x"), args(a), "") },
	})
	return near, far
}

func TestWhoWaitsForAResultThatTheLogRefusesForGoodGetsAnError(t *testing.T) {
	for _, method := range []string{"long", "fail"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := narrowly(t, 2000, lots)
				defer c.stop()
				n := c.open(answering())
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				ask := func(how string) (string, error) {
					return result(n.Call(ctx, runtime.ClientCall{Target: actor("far", "a"), Method: how, Args: []byte(method)}))
				}
				v, err := ask("ask")
				if err != nil || !strings.HasPrefix(v, runtime.CodeTooLarge+": the method has ended") || !strings.HasSuffix(v, "then y <nil>") {
					t.Errorf("a caller gets %q, %v", v, err)
				}
				if _, err = ask("tail"); code(err) != runtime.CodeTooLarge || !strings.Contains(err.Error(), "the method has ended") {
					t.Errorf("a client gets %v", err)
				}
				if n := c.heardTimes(runtime.OutputLost); n != 2 {
					t.Errorf("told of %d", n)
				}
			})
		})
	}
}

// Whoever dies before it is on record that a result is given up leaves it to the
// next owner, which is refused as well.
func TestAResultThatIsRefusedForGoodIsGivenUpByTheNextOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := narrowly(t, 2000, lots)
		defer c.stop()
		near, far := answering()
		caller := c.openWith(runtime.Config{Name: "caller"}, far)
		dying := make(chan struct{})
		died := &link{before: func(_ int, _ journal.Partition, r record.Record) bool {
			_, is := r.(*record.Undeliverable)
			if is {
				close(dying)
			}
			return is
		}}
		first := c.openOn(died, runtime.Config{Name: "first"}, near)
		defer kill(first)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var got string
		var asking sync.WaitGroup
		asking.Go(func() {
			got, _ = result(caller.Call(ctx, runtime.ClientCall{Target: actor("far", "a"), Method: "ask", Args: []byte("long")}))
		})
		<-dying
		died.crash()
		c.open(near)
		asking.Wait()
		if !strings.HasPrefix(got, runtime.CodeTooLarge) || !strings.HasSuffix(got, "then y <nil>") {
			t.Errorf("got %q", got)
		}
	})
}

// mute is a log that refuses every response, however short.
type mute struct{ *memory.Log }

func (l *mute) Append(p journal.Partition, data []byte, done func(journal.Place, error)) {
	if r, err := record.Decode(data); err == nil && r.Kind() == record.KindResponse {
		done(journal.Place{}, journal.ErrTooLarge)
		return
	}
	l.Log.Append(p, data, done)
}

func TestAnErrorThatIsRefusedAsWellIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{T: t, log: &mute{memory.New(memory.WithPartitions(1))}}
		defer c.stop()
		near, far := answering()
		heard := make(chan string, 1)
		far.Methods["hear"] = runtime.Method{Run: func(_ context.Context, a *runtime.Attempt) runtime.End {
			heard <- args(a)
			return value("")
		}}
		near.Methods["tell"] = runtime.Method{Run: func(_ context.Context, a *runtime.Attempt) runtime.End {
			_ = a.Tell(record.Call{Target: actor("far", "b"), Method: "hear", Args: []byte("behind it")})
			return value("")
		}}
		n := c.open(near, far)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := n.Call(ctx, runtime.ClientCall{Target: actor("far", "a"), Method: "tail", Args: []byte("long")}); err == nil {
			t.Error("it has an answer")
		}
		c.call(n, "x", "tell", "")
		synctest.Wait()
		if len(heard) != 1 {
			t.Error("what is behind it waits")
		}
		if n := c.heardTimes(runtime.OutputLost); n != 2 {
			t.Errorf("told of %d", n)
		}
	})
}
