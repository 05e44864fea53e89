package actors_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/retry"
)

func TestAFailedAttemptIsRepeated(t *testing.T) {
	inBubble(t, func(c *cluster) {
		for how, fail := range map[string]func() error{
			"Retry":   func() error { return actors.Retry(errEmpty, 0) },
			"a panic": func() error { panic(errEmpty) },
		} {
			kept := actors.NewValue[int](Thing, "kept")
			s := script(c)
			var attempts []int
			var keys []string
			err := s.on("x"+how, func(ctx context.Context, self self) error {
				attempts, keys = append(attempts, self.Attempt()), append(keys, self.IdempotencyKey("charge"))
				if n, err := kept.Get(ctx, self); n != 0 || err != nil {
					t.Errorf("%s: what the failed attempt wrote is there: %d, %v", how, n, err)
				}
				if err := kept.Set(self, 1); err != nil {
					return err
				}
				if len(attempts) < 3 {
					return fail()
				}
				return nil
			})
			if err != nil || len(attempts) != 3 || attempts[0] != 1 || attempts[2] != 3 {
				t.Errorf("%s: attempts %v, %v", how, attempts, err)
			}
			if keys[0] != keys[1] || keys[1] != keys[2] {
				t.Errorf("%s: keys %q", how, keys)
			}
			c.ok(c.nodes[len(c.nodes)-1].Stop(context.Background()))
		}
		if told := c.heard.Events(backstay.StepFailed); len(told) != 4 || told[0].Err == nil || told[0].Operation != "run" {
			t.Errorf("told %+v", told)
		}
	})
}

func TestARetryWrapsItsReason(t *testing.T) {
	err := actors.Retry(errEmpty, 0)
	if !errors.Is(err, errEmpty) || err.Error() != "retry: the thing is empty" {
		t.Error(err)
	}
}

func TestRetryWaitsAsLongAsItSays(t *testing.T) {
	inBubble(t, func(c *cluster) {
		s := script(c)
		runs := 0
		began := time.Now()
		c.ok(s.on("x", func(context.Context, self) error {
			if runs++; runs < 3 {
				return actors.Retry(errEmpty, time.Minute)
			}
			return nil
		}))
		if took := time.Since(began); took < 2*time.Minute || took > 121*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestWhatFailsTooOftenIsGivenUp(t *testing.T) {
	inBubble(t, func(c *cluster) {
		runs := 0
		fail, handler := does("fail", func(context.Context, self, string) (none, error) {
			runs++
			return none{}, actors.Retry(errors.New("the printer is on fire"), 0)
		})
		ctx := c.thingsWith(actors.Settings{Retry: retry.Config{MaxAttempts: 3}}, handler)
		_, err := fail.Call(ctx, Thing.Ref("x"), "this")
		c.is(err, actors.ErrPoison)
		var e *actors.CallError
		if !errors.As(err, &e) || e.Actor != "thing/x" || e.Method != "fail" || !strings.Contains(e.Detail, "3 attempts") || !strings.Contains(err.Error(), "the printer is on fire") {
			t.Error(err)
		}
		synctest.Wait()
		letters := c.log.Messages(actors.DefaultDeadLetters)
		if runs != 3 || len(letters) != 1 || string(letters[0].Value) != `"this"` {
			t.Errorf("%d runs, dead letters %v", runs, letters)
		}
		told := c.heard.Events(backstay.StepFailed)
		if len(told) != 3 || told[1].Wait == 0 || told[2].Wait != 0 || told[2].Err.Error() != "the printer is on fire" {
			t.Errorf("of the attempts is told %+v", told)
		}
		if told := c.heard.Events(backstay.RequestGivenUp); len(told) != 1 || told[0].Reason != backstay.ReasonPoison ||
			told[0].Operation != "fail" || !strings.HasPrefix(told[0].Err.Error(), "request ") || !strings.HasSuffix(told[0].Err.Error(), " to thing/x: the printer is on fire") {
			t.Errorf("told %+v", told)
		}
	})
}

func TestAPanicOfAMethodIsToldWithItsStack(t *testing.T) {
	inBubble(t, func(c *cluster) {
		s := script(c)
		panicked := false
		c.ok(s.on("x", func(context.Context, self) error {
			if !panicked {
				panicked = true
				panic("oh")
			}
			return nil
		}))
		told := c.heard.Events(backstay.CallbackPanicked)
		if len(told) != 1 || told[0].Operation != "run" {
			t.Fatalf("told %+v", told)
		}
		p, ok := told[0].Err.(interface{ Stack() []byte }) // as package slogmw asks
		if !ok || p.(error).Error() != "panic: oh" || !strings.Contains(string(p.Stack()), "failure_test.go") {
			t.Errorf("told %#v", told[0].Err)
		}
	})
}

func TestATextHasTheBeginningOfALongID(t *testing.T) {
	inBubble(t, func(c *cluster) {
		fail, handler := does("fail", func(context.Context, self, none) (none, error) { return none{}, actors.Retry(errEmpty, 0) })
		ctx := c.thingsWith(actors.Settings{Retry: retry.Config{MaxAttempts: 1}}, handler)
		id := strings.Repeat("é", 10_000)
		_, err := fail.Call(ctx, Thing.Ref(id), none{})
		e, ok := errors.AsType[*actors.CallError](err)
		if !ok || e.Actor != "thing/"+id || len(err.Error()) > 400 || !strings.HasPrefix(err.Error(), "thing/éé") || !strings.Contains(err.Error(), "é….fail: ") {
			t.Errorf("%.500v", err)
		}
	})
}

func TestDeadLettersGoWhereTheNodeSays(t *testing.T) {
	inBubble(t, func(c *cluster) {
		fail, handler := does("fail", func(context.Context, self, none) (none, error) { panic("oh") })
		n := c.open(actors.Config{DeadLetters: "lost"}, actors.Host(Thing, actors.Settings{Retry: retry.Config{MaxAttempts: 1}}, handler))
		_, err := fail.Call(c.on(n), Thing.Ref("x"), none{})
		c.is(err, actors.ErrPoison)
		synctest.Wait()
		if len(c.log.Messages("lost")) != 1 {
			t.Error("it is not there")
		}
	})
}

func TestAFullMailboxRefusesAtOnce(t *testing.T) {
	inBubble(t, func(c *cluster) {
		slow, handler := does("slow", func(context.Context, self, none) (none, error) {
			time.Sleep(10 * time.Second)
			return none{}, nil
		})
		ctx := c.thingsWith(actors.Settings{Mailbox: 3}, handler)
		synctest.Wait() // what came in before there was an owner is not refused
		for range 3 {
			c.ok(slow.Tell(ctx, Thing.Ref("x"), none{}))
		}
		began := time.Now()
		_, err := slow.Call(ctx, Thing.Ref("x"), none{})
		c.is(err, actors.ErrMailboxFull)
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
		_, err = slow.Call(ctx, Thing.Ref("y"), none{})
		c.ok(err)
	})
}

func TestTwoActorsThatWaitForOneAnotherLearnOfIt(t *testing.T) {
	inBubble(t, func(c *cluster) {
		visit := actors.Declare[actors.Ref[thing], none](Thing, "visit")
		host := actors.Declare[none, none](Thing, "host")
		ctx := c.thingsWith(actors.Settings{BusyTimeout: 5 * time.Second},
			actors.Handle(visit, func(ctx context.Context, _ self, whom actors.Ref[thing]) (none, error) {
				time.Sleep(time.Second)
				_, err := host.Call(ctx, whom, none{})
				if errors.Is(err, actors.ErrDeadlock) {
					return none{}, err
				}
				return none{}, err
			}),
			actors.Handle(host, func(context.Context, self, none) (none, error) { return none{}, nil }),
		)
		began := time.Now()
		a, b := visit.Go(ctx, Thing.Ref("a"), Thing.Ref("b")), visit.Go(ctx, Thing.Ref("b"), Thing.Ref("a"))
		_, first := a.Await(ctx)
		_, second := b.Await(ctx)
		if first == nil && second == nil {
			t.Fatal("nobody learned of it")
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it took %v", took)
		}
		for _, err := range []error{first, second} {
			if err == nil {
				continue
			}
			for _, words := range []string{"waits for an actor that is busy", "thing/a", "thing/b", "visit", "host"} {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("the error does not say %q: %v", words, err)
				}
			}
		}
	})
}

func TestACallThatLostItsMethodsContextWaitsForItself(t *testing.T) {
	inBubble(t, func(c *cluster) {
		inner := actors.Declare[none, none](Thing, "inner")
		outer := actors.Declare[none, none](Thing, "outer")
		var outside context.Context
		var stuck error
		outside = c.thingsWith(actors.Settings{BusyTimeout: 5 * time.Second},
			actors.Handle(outer, func(_ context.Context, self self, in none) (none, error) {
				_, stuck = inner.Call(outside, self.Ref(), in) // not the method's
				return none{}, nil
			}),
			actors.Handle(inner, func(context.Context, self, none) (none, error) { return none{}, nil }),
		)
		_, err := outer.Call(outside, Thing.Ref("x"), none{})
		c.ok(err)
		c.is(stuck, actors.ErrDeadlock)
	})
}

func TestNothingCanBeDoneOnceTheMethodHasReturned(t *testing.T) {
	inBubble(t, func(c *cluster) {
		v := actors.NewValue[int](Thing, "v")
		m := actors.NewMap[string, int](Thing, "m")
		s := script(c)
		s.todo = append(s.todo, func(context.Context, self) error { return nil })
		var kept self
		var late context.Context
		c.ok(s.on("x", func(ctx context.Context, self self) error { kept, late = self, ctx; return nil }))
		_, get := v.Get(late, kept)
		_, _, entry := m.Get(late, kept, "k")
		var loop error
		for _, loop = range m.All(late, kept) {
		}
		_, call := s.run.Call(late, Thing.Ref("y"), 0)
		_, awaited := s.run.Go(late, Thing.Ref("y"), 0).Await(c.Context())
		for what, err := range map[string]error{
			"Get": get, "Set": v.Set(kept, 1), "Remove": v.Remove(kept), "Map.Get": entry, "Map.Set": m.Set(kept, "k", 1), "Map.Remove": m.Remove(kept, "k"), "All": loop,
			"Call": call, "Go": awaited, "Tell": s.run.Tell(late, Thing.Ref("y"), 0), "Delete": kept.Delete(), "Forget": s.run.Forget(kept, "r"),
			"Remind": s.run.Remind(kept, "r", actors.After(1), 0), "Publish": kept.Publish(actors.Message{Topic: "t"}),
		} {
			if !errors.Is(err, actors.ErrOver) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if late.Err() == nil {
			t.Error("its context lives on")
		}
	})
}

func TestAGoroutineMustNotChangeTheActorUnderACallback(t *testing.T) {
	inBubble(t, func(c *cluster) {
		v := actors.NewValue[int](Thing, "v")
		outer := actors.Declare[none, none](Thing, "outer")
		back := actors.Declare[none, none](Thing, "back")
		pass := actors.Declare[actors.Ref[thing], none](Thing, "pass")
		var refused error
		ctx := c.things(
			actors.Handle(outer, func(ctx context.Context, self self, _ none) (none, error) {
				done := make(chan struct{})
				go func() {
					defer close(done)
					time.Sleep(2 * time.Second) // back runs
					refused = v.Set(self, 1)
				}()
				_, err := pass.Call(ctx, Thing.Ref("y"), self.Ref())
				<-done
				return none{}, err
			}),
			actors.Handle(pass, func(ctx context.Context, _ self, ref actors.Ref[thing]) (none, error) {
				return back.Call(ctx, ref, none{})
			}),
			actors.Handle(back, func(context.Context, self, none) (none, error) { time.Sleep(4 * time.Second); return none{}, nil }),
		)
		_, err := outer.Call(ctx, Thing.Ref("x"), none{})
		c.is(refused, actors.ErrBusy)
		if err == nil {
			t.Error("the step was recorded without what it meant to write")
		}
	})
}

func TestAContextOfAMethodCanBeTheParentOfOthers(t *testing.T) {
	inBubble(t, func(c *cluster) {
		s := script(c)
		s.todo = append(s.todo, func(context.Context, self) error { return nil })
		c.ok(s.on("x", func(ctx context.Context, self self) error {
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			if _, err := s.run.Call(short, self.Ref(), 0); err != nil { // still nested: else it would wait for itself
				return err
			}
			<-short.Done()
			long, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			<-long.Done() // with the method's own
			if ctx.Err() == nil {
				t.Error("the child ended before its parent")
			}
			return nil
		}))
	})
}

func TestAnErrorAfterTheTimeIsUpIsAFailedAttempt(t *testing.T) {
	inBubble(t, func(c *cluster) {
		runs := 0
		slow, handler := does("slow", func(ctx context.Context, _ self, how string) (string, error) {
			if runs++; runs > 1 {
				return how, nil
			}
			<-ctx.Done()
			switch how {
			case "a registered error":
				return "", errEmpty
			case "a value":
				return how, nil
			default:
				return "", errors.New("reading a row: " + ctx.Err().Error())
			}
		})
		ctx := c.thingsWith(actors.Settings{StepTimeout: time.Second}, handler)
		for how, want := range map[string]int{"any error": 2, "a registered error": 1, "a value": 1} {
			runs = 0
			v, err := slow.Call(ctx, Thing.Ref(how), how)
			if how == "a registered error" {
				c.is(err, errEmpty)
			} else {
				equal(c, v, err, how)
			}
			if runs != want {
				t.Errorf("%s: %d runs", how, runs)
			}
		}
		if told := c.heard.Events(backstay.StepFailed); len(told) != 1 || !strings.Contains(told[0].Err.Error(), "its time was up: reading a row") {
			t.Errorf("told %+v", told)
		}
	})
}

func TestRetryWaitsAsLongAsTheErrorAsksFor(t *testing.T) {
	inBubble(t, func(c *cluster) {
		s := script(c)
		for _, row := range []struct {
			after, asked, least, most time.Duration
		}{{0, time.Minute, time.Minute, 61 * time.Second}, {time.Second, time.Minute, time.Second, 2 * time.Second}} {
			runs, began := 0, time.Now()
			c.ok(s.on("x", func(context.Context, self) error {
				if runs++; runs > 1 {
					return nil
				}
				return actors.Retry(backstay.RetryAfter(errEmpty, row.asked), row.after)
			}))
			if took := time.Since(began); took < row.least || took > row.most {
				t.Errorf("%+v: %v", row, took)
			}
		}
	})
}

func TestAPoisonSaysWhatTheLastAttemptFailedWith(t *testing.T) {
	inBubble(t, func(c *cluster) {
		fail, handler := does("fail", func(context.Context, self, none) (none, error) {
			return none{}, actors.Retry(errors.Join(errors.New("looking into it"), errEmpty), 0)
		})
		outer, calling := does("outer", func(ctx context.Context, _ self, _ none) (none, error) {
			return fail.Call(ctx, Thing.Ref("y"), none{})
		})
		ctx := c.thingsWith(actors.Settings{Retry: retry.Config{MaxAttempts: 2}}, handler, calling)
		_, err := fail.Call(ctx, Thing.Ref("x"), none{})
		c.is(err, actors.ErrPoison)
		c.is(err, errEmpty)
		const want = "thing/x.fail: actors: given up after too many failed attempts (2 attempts, the last one: looking into it\nthe thing is empty)"
		if err.Error() != want {
			t.Errorf("got %q", err)
		}
		_, err = outer.Call(ctx, Thing.Ref("x"), none{})
		c.is(err, errEmpty) // through the caller's error, too
	})
}

func TestAPoisonSaysWhichLinkOfAChainWasGivenUp(t *testing.T) {
	inBubble(t, func(c *cluster) {
		last, failing := does("last", func(context.Context, self, none) (none, error) { return none{}, actors.Retry(errEmpty, 0) })
		first := actors.Declare[none, none](Thing, "first")
		ctx := c.thingsWith(actors.Settings{Retry: retry.Config{MaxAttempts: 2}}, failing,
			actors.HandleNext(first, func(context.Context, self, none) (actors.Next[none], error) {
				return last.TailTo(Thing.Ref("end"), none{}), nil
			}))
		_, err := first.Call(ctx, Thing.Ref("begin"), none{})
		c.is(err, actors.ErrPoison)
		c.is(err, errEmpty)
		const want = "thing/begin.first: actors: given up after too many failed attempts (2 attempts of thing/end.last, the last one: the thing is empty)"
		if e, ok := errors.AsType[*actors.CallError](err); !ok || e.Actor != "thing/begin" || err.Error() != want {
			t.Errorf("got %q", err)
		}
	})
}

func TestLaterAttemptsAreKnownAsRetries(t *testing.T) {
	inBubble(t, func(c *cluster) {
		s := script(c)
		var seen []string
		c.ok(s.on("x", func(ctx context.Context, _ self) error {
			seen = append(seen, fmt.Sprint(retry.Attempt(ctx), retry.Suppressed(ctx)))
			if len(seen) < 3 {
				return actors.Retry(errEmpty, 0)
			}
			return nil
		}))
		if got := strings.Join(seen, ", "); got != "1 false, 2 true, 3 true" {
			t.Errorf("got %q", got)
		}
	})
}

func TestNobodyHostsTheTypeIsSaidWhereItIsKnown(t *testing.T) {
	inBubble(t, func(c *cluster) {
		s := script(c)
		Other := actors.NewType[none]("other")
		other := actors.Declare[none, none](Other, "do")
		ask := actors.DeclareQuery[none, none](Other, "ask")
		calls := map[string]func(ctx context.Context) error{
			"a call":     func(ctx context.Context) error { _, err := other.Call(ctx, Other.Ref("x"), none{}); return err },
			"a query":    func(ctx context.Context) error { _, err := ask.Call(ctx, Other.Ref("x"), none{}); return err },
			"Describe":   func(ctx context.Context) error { _, err := actors.Describe(ctx, Other.Ref("x")); return err },
			"its result": func(ctx context.Context) error { _, err := other.Result(ctx, Other.Ref("x"), "k"); return err },
		}
		const words = "no process that is alive hosts type other"
		for what, call := range calls {
			short, cancel := context.WithTimeout(s.ctx, time.Second)
			err := call(short)
			cancel()
			if c.is(err, actors.ErrUnanswered); !strings.Contains(err.Error(), words) {
				t.Errorf("%s: %v", what, err)
			}
		}
		client := c.on(c.open(actors.Config{})) // which knows nothing of others
		short, cancel := context.WithTimeout(client, time.Second)
		defer cancel()
		if _, err := other.Call(short, Other.Ref("x"), none{}); strings.Contains(err.Error(), words) {
			t.Error(err)
		}
	})
}

func TestACallOfAMethodToATypeThatNobodyHostsSaysSo(t *testing.T) {
	inBubble(t, func(c *cluster) {
		const words = "no process that is alive hosts type other"
		Other := actors.NewType[none]("other")
		other := actors.Declare[none, none](Other, "do")
		nested := make(chan error, 1)
		outer, handler := does("outer", func(ctx context.Context, _ self, in none) (none, error) {
			short, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			_, err := other.Call(short, Other.Ref("x"), in)
			nested <- err
			return none{}, nil
		})
		n := c.open(actors.Config{}, actors.Host(Thing, actors.Settings{}, handler))
		waiting := outer.Go(c.on(n), Thing.Ref("x"), none{})
		pass(time.Second) // long before its time is up
		var shown []string
		for _, p := range n.Inspect(c.Context()).Partitions {
			for _, r := range p.Running {
				shown = append(shown, r.Waiting...)
			}
		}
		if len(shown) != 1 || shown[0] != "other/x.do ("+words+")" {
			t.Errorf("it is shown to wait for %q", shown)
		}
		err := <-nested
		if c.is(err, actors.ErrUnanswered); !strings.Contains(err.Error(), words) {
			t.Error(err)
		}
		c.open(actors.Config{}, actors.Host(Other, actors.Settings{}, actors.Handle(other, func(context.Context, actors.Self[none], none) (none, error) {
			return none{}, nil
		})))
		_, err = waiting.Await(c.Context())
		c.ok(err)
	})
}
