package actors_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
)

var errEmpty = actors.RegisterError("thing.empty", errors.New("the thing is empty"))

func TestACallReturnsTheMethodsValue(t *testing.T) {
	inBubble(t, func(c *cluster) {
		greet, handler := does("greet", func(_ context.Context, self self, name string) (string, error) {
			return self.ID() + " greets " + name, nil
		})
		got, err := greet.Call(c.things(handler), Thing.Ref("x"), "Ann")
		equal(c, got, err, "x greets Ann")
	})
}

func TestAnErrorOfAMethodIsTheCallsResultAndIsNotRetried(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var runs int
		take, handler := does("take", func(_ context.Context, _ self, how string) (int, error) {
			runs++
			switch how {
			case "registered":
				return 0, errEmpty
			case "wrapped":
				return 0, fmt.Errorf("taking from the left: %w", errEmpty)
			default:
				return 0, errors.New("no such side")
			}
		})
		ctx := c.things(handler)
		for how, text := range map[string]string{"registered": "the thing is empty", "wrapped": "taking from the left: the thing is empty", "plain": "no such side"} {
			runs = 0
			_, err := take.Call(ctx, Thing.Ref("x"), how)
			var told *actors.Error
			if !errors.As(err, &told) || told.Message != text {
				t.Errorf("%s: %v", how, err)
			}
			if errors.Is(err, errEmpty) != (how != "plain") || (told.Code == "thing.empty") != (how != "plain") {
				t.Errorf("%s: errors.Is the registered error: %v, code %q", how, errors.Is(err, errEmpty), told.Code)
			}
			if runs != 1 {
				t.Errorf("%s: it ran %d times", how, runs)
			}
		}
	})
}

func TestARegisteredErrorIsRecognisedThroughSeveralActors(t *testing.T) {
	inBubble(t, func(c *cluster) {
		take := actors.Declare[none, int](Thing, "take")
		ask := actors.Declare[none, int](Thing, "ask")
		ctx := c.things(
			actors.Handle(take, func(context.Context, self, none) (int, error) { return 0, errEmpty }),
			actors.Handle(ask, func(ctx context.Context, _ self, in none) (int, error) {
				n, err := take.Call(ctx, Thing.Ref("y"), in)
				if err != nil {
					return n, fmt.Errorf("asking y: %w", err)
				}
				return n, nil
			}),
		)
		_, err := ask.Call(ctx, Thing.Ref("x"), none{})
		c.is(err, errEmpty)
		if err.Error() != "asking y: the thing is empty" {
			t.Error(err)
		}
	})
}

func TestACodeThatIsNotRegisteredHereTravelsOn(t *testing.T) {
	inBubble(t, func(c *cluster) {
		fail, handler := does("fail", func(context.Context, self, none) (none, error) {
			return none{}, fmt.Errorf("it says: %w", &actors.Error{Code: "elsewhere.only", Message: "no"})
		})
		_, err := fail.Call(c.things(handler), Thing.Ref("x"), none{})
		var told *actors.Error
		if !errors.As(err, &told) || told.Code != "elsewhere.only" || told.Message != "it says: no" || errors.Is(err, errEmpty) {
			t.Errorf("%#v", err)
		}
	})
}

func TestAnErrorOfThisPackageIsHandedOnInWordsOnly(t *testing.T) {
	inBubble(t, func(c *cluster) {
		fail := actors.Declare[none, none](Thing, "fail")
		ask := actors.Declare[none, none](Thing, "ask")
		var nested error
		ctx := c.things(
			actors.Handle(fail, func(context.Context, self, none) (none, error) { panic("oh") }),
			actors.Handle(ask, func(ctx context.Context, _ self, in none) (none, error) {
				_, nested = fail.Call(ctx, Thing.Ref("y"), in)
				return none{}, nested
			}),
		)
		_, err := ask.Call(ctx, Thing.Ref("x"), none{})
		c.is(nested, actors.ErrPoison)
		var told *actors.Error
		if !errors.As(err, &told) || errors.Is(err, actors.ErrPoison) || told.Message != nested.Error() {
			t.Errorf("x did run, and ended with %v", err)
		}
	})
}

func TestAMethodThatNobodyHasIsAnError(t *testing.T) {
	inBubble(t, func(c *cluster) {
		_, handler := does("known", func(context.Context, self, none) (none, error) { return none{}, nil })
		unknown := actors.Declare[none, none](Thing, "unknown")
		question := actors.DeclareQuery[none, none](Thing, "question")
		ctx := c.things(handler)
		_, err := unknown.Call(ctx, Thing.Ref("x"), none{})
		c.is(err, actors.ErrNoMethod)
		var e *actors.CallError
		if !errors.As(err, &e) || e.Actor != "thing/x" || e.Method != "unknown" {
			t.Errorf("%#v", err)
		}
		_, err = question.Call(ctx, Thing.Ref("x"), none{})
		c.is(err, actors.ErrNoMethod)
	})
}

func TestATypeWithoutALogIsAnError(t *testing.T) {
	inBubble(t, func(c *cluster) {
		stray := actors.NewType[none]("stray")
		lost := actors.Declare[none, none](stray, "lost")
		var nested, tell error
		try, handler := does("try", func(ctx context.Context, _ self, in none) (none, error) {
			_, nested = lost.Call(ctx, stray.Ref("s"), in)
			tell = lost.Tell(ctx, stray.Ref("s"), in)
			return none{}, nil
		})
		tail := actors.Declare[none, none](Thing, "tail")
		n, err := actors.Open(c.Context(), actors.Config{}, without{c.log, "stray"}, actors.Host(Thing, actors.Settings{}, handler,
			actors.HandleNext(tail, func(_ context.Context, _ self, in none) (actors.Next[none], error) {
				return lost.TailTo(stray.Ref("s"), in), nil
			})))
		c.ok(err)
		c.nodes = append(c.nodes, n)
		_, err = lost.Call(c.on(n), stray.Ref("s"), none{})
		c.is(err, actors.ErrNoType)
		_, err = try.Call(c.on(n), Thing.Ref("x"), none{})
		c.ok(err)
		c.is(nested, actors.ErrNoType)
		c.is(tell, actors.ErrNoType)
		_, err = tail.Call(c.on(n), Thing.Ref("x"), none{})
		c.is(err, actors.ErrNoType)
	})
}

func TestAContextWithoutANodeIsRefused(t *testing.T) {
	m, _ := does("m", func(context.Context, self, none) (none, error) { return none{}, nil })
	q := actors.DeclareQuery[none, none](Thing, "q")
	_, call := m.Call(t.Context(), Thing.Ref("x"), none{})
	_, later := m.Go(t.Context(), Thing.Ref("x"), none{}).Await(t.Context())
	_, asked := q.Call(t.Context(), Thing.Ref("x"), none{})
	for what, err := range map[string]error{"Call": call, "Go": later, "Tell": m.Tell(t.Context(), Thing.Ref("x"), none{}), "Query": asked} {
		if !errors.Is(err, actors.ErrNoNode) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAWaitThatIsCutShortSaysSo(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var done atomic.Int32
		slow, handler := does("slow", func(context.Context, self, none) (none, error) {
			time.Sleep(time.Minute)
			done.Add(1)
			return none{}, nil
		})
		ctx := c.things(handler)
		why := errors.New("the user went home")
		cancelled, cancel := context.WithCancelCause(ctx)
		time.AfterFunc(time.Second, func() { cancel(why) })
		_, err := slow.Call(cancelled, Thing.Ref("x"), none{})
		for _, want := range []error{actors.ErrUnanswered, context.Canceled, why} {
			c.is(err, want)
		}
		pending := slow.Go(ctx, Thing.Ref("y"), none{})
		_, err = pending.Await(cancelled)
		for _, want := range []error{actors.ErrUnanswered, context.Canceled, why} {
			c.is(err, want)
		}
		if n := strings.Count(err.Error(), "thing/y.slow"); n != 1 {
			t.Errorf("the error names the call %d times: %v", n, err)
		}
		_, err = pending.Await(ctx) // again
		c.ok(err)
		pass(time.Minute)
		if n := done.Load(); n != 2 {
			t.Errorf("%d have run, want both: nobody waits any more, but the requests stand", n)
		}
	})
}

func TestCallsFromOutsideRunBesideOneAnother(t *testing.T) {
	inBubble(t, func(c *cluster) {
		wait, handler := does("wait", func(_ context.Context, _ self, d time.Duration) (time.Duration, error) {
			time.Sleep(d)
			return d, nil
		})
		ctx := c.things(handler)
		began := time.Now()
		a, b := wait.Go(ctx, Thing.Ref("a"), time.Second), wait.Go(ctx, Thing.Ref("b"), time.Second)
		for _, p := range []*actors.Pending[time.Duration]{a, b, a} {
			d, err := p.Await(ctx)
			equal(c, d, err, time.Second)
		}
		if took := time.Since(began); took > 1100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

func TestNestedCallsRunBesideOneAnotherWhenTheyAreBegunBeforeAnAwait(t *testing.T) {
	inBubble(t, func(c *cluster) {
		wait := actors.Declare[time.Duration, time.Duration](Thing, "wait")
		both := actors.Declare[none, time.Duration](Thing, "both")
		ctx := c.things(
			actors.Handle(wait, func(_ context.Context, _ self, d time.Duration) (time.Duration, error) {
				time.Sleep(d)
				return d, nil
			}),
			actors.Handle(both, func(ctx context.Context, _ self, _ none) (time.Duration, error) {
				began := time.Now()
				b := wait.Go(ctx, Thing.Ref("b"), 2*time.Second)
				a := wait.Go(ctx, Thing.Ref("a"), time.Second)
				_, err := a.Await(ctx)
				_, again := b.Await(ctx)
				_, twice := b.Await(ctx)
				return time.Since(began), errors.Join(err, again, twice)
			}),
		)
		took, err := both.Call(ctx, Thing.Ref("x"), none{})
		if err != nil || took > 2100*time.Millisecond {
			t.Errorf("%v, %v", took, err)
		}
	})
}

func TestACallThatIsNotAwaitedIsWaitedForAtTheEnd(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var d diary
		slow := actors.Declare[none, none](Thing, "slow")
		careless := actors.Declare[none, none](Thing, "careless")
		ctx := c.things(
			actors.Handle(slow, func(context.Context, self, none) (none, error) {
				time.Sleep(time.Second)
				d.write("slow is done")
				return none{}, nil
			}),
			actors.Handle(careless, func(ctx context.Context, _ self, in none) (none, error) {
				slow.Go(ctx, Thing.Ref("y"), in)
				return none{}, nil
			}),
		)
		_, err := careless.Call(ctx, Thing.Ref("x"), none{})
		c.ok(err)
		if got := d.all(); len(got) != 1 {
			t.Error("the caller was answered before its callee had ended")
		}
	})
}

func TestACalleeMayCallBack(t *testing.T) {
	inBubble(t, func(c *cluster) {
		n := actors.NewValue[int](Thing, "n")
		outer := actors.Declare[none, int](Thing, "outer")
		middle := actors.Declare[actors.Ref[thing], none](Thing, "middle")
		inner := actors.Declare[none, none](Thing, "inner")
		ctx := c.things(
			actors.Handle(outer, func(ctx context.Context, self self, _ none) (int, error) {
				if err := n.Set(self, 1); err != nil {
					return 0, err
				}
				if _, err := middle.Call(ctx, Thing.Ref("y"), self.Ref()); err != nil {
					return 0, err
				}
				return n.Get(ctx, self)
			}),
			actors.Handle(middle, func(ctx context.Context, _ self, back actors.Ref[thing]) (none, error) {
				return inner.Call(ctx, back, none{})
			}),
			actors.Handle(inner, func(ctx context.Context, self self, _ none) (none, error) {
				have, err := n.Get(ctx, self)
				if err != nil {
					return none{}, err
				}
				return none{}, n.Set(self, have+41)
			}),
		)
		got, err := outer.Call(ctx, Thing.Ref("x"), none{})
		equal(c, got, err, 42)
	})
}

func TestWhatCannotBeEncodedIsAnErrorOfTheCall(t *testing.T) {
	inBubble(t, func(c *cluster) {
		give, g := does("give", func(context.Context, self, func()) (none, error) { return none{}, nil })
		get, h := does("get", func(context.Context, self, none) (chan int, error) { return make(chan int), nil })
		q := actors.DeclareQuery[none, chan int](Thing, "query")
		ctx := c.things(g, h, actors.HandleShared(q, func(context.Context, actors.View[thing], none) (chan int, error) { return make(chan int), nil }))
		_, err := give.Call(ctx, Thing.Ref("x"), func() {})
		if err == nil || !strings.Contains(err.Error(), "argument of thing/x.give") {
			t.Error(err)
		}
		if err := give.Tell(ctx, Thing.Ref("x"), func() {}); err == nil {
			t.Error("an argument of a tell that cannot be encoded")
		}
		_, err = get.Call(ctx, Thing.Ref("x"), none{})
		if err == nil || !strings.Contains(err.Error(), "the result cannot be encoded") {
			t.Error(err)
		}
		if _, err = q.Call(ctx, Thing.Ref("x"), none{}); err == nil || !strings.Contains(err.Error(), "the result cannot be encoded") {
			t.Error(err)
		}
	})
}

func TestAnArgumentOfAnotherFormIsTheCallsResult(t *testing.T) {
	inBubble(t, func(c *cluster) {
		_, add := does("add", func(context.Context, self, int) (int, error) { return 0, nil })
		_, same := does("same", func(_ context.Context, _ self, in int) (int, error) { return in, nil })
		ctx := c.things(add, same)
		addText := actors.Declare[string, int](Thing, "add")
		if _, err := addText.Call(ctx, Thing.Ref("x"), "seven"); err == nil || !strings.Contains(err.Error(), "the argument does not decode") {
			t.Error(err)
		}
		sameList := actors.Declare[int, []int](Thing, "same")
		if _, err := sameList.Call(ctx, Thing.Ref("x"), 7); err == nil || !strings.Contains(err.Error(), "result of thing/x.same") {
			t.Error(err)
		}
	})
}

func TestAnEmptyReferenceIsRefused(t *testing.T) {
	inBubble(t, func(c *cluster) {
		m, handler := does("m", func(context.Context, self, none) (none, error) { return none{}, nil })
		ctx := c.things(handler)
		for _, ref := range []actors.Ref[thing]{{}, Thing.Ref("")} {
			if _, err := m.Call(ctx, ref, none{}); err == nil || !strings.Contains(err.Error(), "empty") {
				t.Errorf("%q: %v", ref, err)
			}
		}
		if !(actors.Ref[thing]{}).IsZero() || Thing.Ref("x").IsZero() || Thing.Ref("x").String() != "thing/x" {
			t.Error("a reference is of another mind")
		}
	})
}

func TestWhatTheLogTakesNoneOfIsTooLarge(t *testing.T) {
	inBubble(t, func(c *cluster) {
		pass, handler := does("pass", func(context.Context, self, string) (none, error) { return none{}, nil })
		n, err := actors.Open(c.Context(), actors.Config{}, tight{c.log}, actors.Host(Thing, actors.Settings{}, handler))
		c.ok(err)
		c.nodes = append(c.nodes, n)
		big := strings.Repeat("x", 20<<10)
		_, call := pass.Call(c.on(n), Thing.Ref("x"), big)
		tell := pass.Tell(c.on(n), Thing.Ref("x"), big)
		again := n.Requeue(c.Context(), actors.DeadLetter{Type: "thing", ID: "x", Method: "pass", Argument: []byte(big)})
		for _, err := range []error{call, tell, again} {
			if c.is(err, actors.ErrTooLarge); strings.Contains(err.Error(), "journal") || backstay.Classify(err).Class != backstay.Permanent {
				t.Errorf("got %v", err)
			}
		}
	})
}

func TestWhatIsTooLargeIsRefused(t *testing.T) {
	inBubble(t, func(c *cluster) {
		big := strings.Repeat("x", 1<<20)
		echo := actors.Declare[int, string](Thing, "echo")
		pass := actors.Declare[string, none](Thing, "pass")
		hand := actors.Declare[none, none](Thing, "hand")
		ctx := c.things(
			actors.Handle(echo, func(_ context.Context, _ self, n int) (string, error) { return big[:n], nil }),
			actors.Handle(pass, func(context.Context, self, string) (none, error) { return none{}, nil }),
			actors.Handle(hand, func(ctx context.Context, _ self, _ none) (none, error) { return pass.Call(ctx, Thing.Ref("y"), big) }),
		)
		_, err := pass.Call(ctx, Thing.Ref("x"), big)
		c.is(err, actors.ErrTooLarge)
		if _, err = echo.Call(ctx, Thing.Ref("x"), 100<<10); !errors.Is(err, actors.ErrTooLarge) || !strings.Contains(err.Error(), `the result of method "echo" has`) || !strings.Contains(err.Error(), "more than the 65536 of an answer") {
			t.Errorf("an answer of 100 KiB: %v", err)
		}
		if _, err = hand.Call(ctx, Thing.Ref("x"), none{}); err == nil || !strings.Contains(err.Error(), "actors: too large") || strings.Contains(err.Error(), "runtime:") {
			t.Errorf("a nested call with a large argument: %v", err)
		}
		if _, err = echo.Call(ctx, Thing.Ref("x"), 10); err != nil {
			t.Error(err)
		}
		if _, err = echo.Call(ctx, Thing.Ref(""), 10); err == nil || err.Error() != "actors: thing.echo: the id is empty" {
			t.Errorf("a call of nobody: %v", err)
		}
	})
}

func TestCallsThatNestForEverEnd(t *testing.T) {
	inBubble(t, func(c *cluster) {
		deeper := actors.Declare[int, int](Thing, "deeper")
		var deepest error
		ctx := c.things(actors.Handle(deeper, func(ctx context.Context, self self, depth int) (int, error) {
			n, err := deeper.Call(ctx, self.Ref(), depth+1)
			if errors.Is(err, actors.ErrTooDeep) {
				deepest = err
				return depth, nil
			}
			return n, err
		}))
		got, err := deeper.Call(ctx, Thing.Ref("x"), 1)
		if err != nil || got < 64 || got > 66 {
			t.Errorf("%d deep, %v", got, err)
		}
		c.is(deepest, actors.ErrTooDeep)
	})
}

func TestCallsOfOneCallerRunInOrder(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var d diary
		note, handler := does("note", func(_ context.Context, _ self, line string) (none, error) {
			d.write(line)
			return none{}, nil
		})
		ctx := c.things(handler)
		want := strings.Split("a call and a tell and a call again", " ")
		for i, line := range want {
			if i%2 == 0 {
				c.ok(note.Tell(ctx, Thing.Ref("x"), line))
			} else if _, err := note.Call(ctx, Thing.Ref("x"), line); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if got := d.all(); !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	})
}
