package actors_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
)

func TestTheResultOfAKeyedCallCanBeAskedForLater(t *testing.T) {
	inBubble(t, func(c *cluster) {
		runs := 0
		work := actors.Declare[string, string](Thing, "work")
		ship := actors.Declare[string, string](Thing, "ship")
		host := func() *actors.Node {
			return c.open(actors.Config{}, actors.Host(Thing, actors.Settings{}, actors.Handle(ship, func(_ context.Context, _ self, how string) (string, error) {
				time.Sleep(time.Minute)
				return how, nil
			}), actors.HandleNext(work, func(_ context.Context, self self, how string) (actors.Next[string], error) {
				if runs++; how == "fail" {
					return actors.Next[string]{}, errEmpty
				}
				return ship.TailTo(Thing.Ref("elsewhere"), how), nil
			})))
		}
		n := host()
		ctx := c.on(c.open(actors.Config{}))
		_, err := work.Result(ctx, Thing.Ref("x"), "k")
		c.is(err, actors.ErrUnknownKey)
		c.ok(work.Tell(ctx, Thing.Ref("x"), "fine", actors.IdempotencyKey("k")))
		_, err = work.Result(ctx, Thing.Ref("x"), "k")
		c.is(err, actors.ErrPending)
		pass(time.Minute)
		for range 3 {
			v, err := work.Result(ctx, Thing.Ref("x"), "k")
			equal(c, v, err, "fine")
		}
		_, err = work.Call(ctx, Thing.Ref("x"), "fail", actors.IdempotencyKey("k2"))
		c.is(err, errEmpty)
		c.crash(n)
		host()
		_, err = work.Result(ctx, Thing.Ref("x"), "k2")
		c.is(err, errEmpty)
		for _, other := range []struct {
			m       actors.Method[string, string, thing]
			id, key string
		}{{work, "x", "k3"}, {work, "y", "k"}, {ship, "x", "k"}} {
			_, err = other.m.Result(ctx, Thing.Ref(other.id), other.key)
			c.is(err, actors.ErrUnknownKey)
		}
		pass(3 * actors.DefaultWindow)
		_, err = work.Call(ctx, Thing.Ref("x"), "fail", actors.IdempotencyKey("moves the clock of the log"))
		c.is(err, errEmpty)
		_, err = work.Result(ctx, Thing.Ref("x"), "k")
		c.is(err, actors.ErrUnknownKey)
		if runs != 3 {
			t.Errorf("%d runs", runs)
		}
	})
}

func TestAResultNeedsAKeyANodeAndAnOwner(t *testing.T) {
	inBubble(t, func(c *cluster) {
		work, working := does("work", func(context.Context, self, none) (none, error) { return none{}, nil })
		_, err := work.Result(context.Background(), Thing.Ref("x"), "k")
		c.is(err, actors.ErrNoNode)
		n := c.open(actors.Config{}, actors.Host(Thing, actors.Settings{}, working))
		ctx := c.on(n)
		if _, err = work.Result(ctx, Thing.Ref("x"), ""); err == nil || !strings.Contains(err.Error(), "empty") {
			t.Error(err)
		}
		client := c.on(c.open(actors.Config{}))
		c.crash(n)
		short, cancel := context.WithTimeout(client, time.Minute)
		defer cancel()
		_, err = work.Result(short, Thing.Ref("x"), "k")
		c.is(err, actors.ErrUnanswered)
		_, err = work.Result(ctx, Thing.Ref("x"), "k")
		c.is(err, actors.ErrStopped)
	})
}

func TestAnEmptyKeyIsRefused(t *testing.T) {
	inBubble(t, func(c *cluster) {
		work, working := does("work", func(context.Context, self, none) (none, error) {
			t.Error("it ran")
			return none{}, nil
		})
		ctx := c.things(working)
		_, err := work.Call(ctx, Thing.Ref("x"), none{}, actors.IdempotencyKey(""))
		for _, err := range []error{err, work.Tell(ctx, Thing.Ref("x"), none{}, actors.IdempotencyKey(""))} {
			if err == nil || !strings.Contains(err.Error(), "the idempotency key is empty") {
				t.Error(err)
			}
		}
	})
}

// A request that has ended without running has ended: who asks again with its
// key gets that answer, so that a copy that comes late cannot run it behind
// the back of who was told that it did not.
func TestARequestThatDidNotRunKeepsItsKey(t *testing.T) {
	inBubble(t, func(c *cluster) {
		runs := 0
		work, working := does("work", func(_ context.Context, _ self, takes time.Duration) (none, error) {
			runs++
			time.Sleep(takes)
			return none{}, nil
		})
		ctx := c.things(working)
		p := work.Go(ctx, Thing.Ref("x"), 10*time.Second)
		pass(time.Second)
		for range 2 {
			_, err := work.Call(ctx, Thing.Ref("x"), 0, actors.IdempotencyKey("k"), actors.ExpireAfter(time.Second))
			c.is(err, actors.ErrExpired)
		}
		_, err := p.Await(ctx)
		c.ok(err)
		_, err = work.Call(ctx, Thing.Ref("x"), 0, actors.IdempotencyKey("k"))
		c.is(err, actors.ErrExpired)
		_, err = work.Call(ctx, Thing.Ref("x"), 0, actors.IdempotencyKey("another"))
		c.ok(err)
		if runs != 2 {
			t.Errorf("%d runs", runs)
		}
	})
}

// At its deadline a caller hears no more than that there is no answer: what its
// method waits for is told to who observes, and to who asks for the result.
func TestWhatACallWaitsForIsToldToWhoAsksForItsResult(t *testing.T) {
	inBubble(t, func(c *cluster) {
		const words = "no process that is alive hosts type other"
		Other := actors.NewType[none]("other")
		other := actors.Declare[none, none](Other, "do")
		outer, handler := does("outer", func(ctx context.Context, _ self, in none) (none, error) {
			return other.Call(ctx, Other.Ref("y"), in)
		})
		host := func() *actors.Node { return c.open(actors.Config{}, actors.Host(Thing, actors.Settings{}, handler)) }
		n := host()
		ctx := c.on(c.open(actors.Config{}))
		begin := func(key string) *actors.Pending[none] {
			short, cancel := context.WithTimeout(ctx, 10*time.Second)
			t.Cleanup(cancel)
			return outer.Go(short, Thing.Ref("x"), none{}, actors.IdempotencyKey(key))
		}
		asked := func(key string, want ...string) {
			t.Helper()
			_, err := outer.Result(ctx, Thing.Ref("x"), key)
			c.is(err, actors.ErrPending)
			for _, text := range want {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%s: %v, which lacks %q", key, err, text)
				}
			}
		}
		first := begin("first")
		pass(5 * time.Second)
		asked("first", "thing/x.outer", "waits for other/y.do", words)
		_, err := first.Await(ctx)
		c.is(err, actors.ErrUnanswered)
		pass(time.Millisecond)
		failed := c.heard.Events(backstay.StepFailed)
		if len(failed) != 1 || failed[0].Operation != "outer" || !strings.Contains(failed[0].Err.Error(), "other/y.do") || !strings.Contains(failed[0].Err.Error(), words) {
			t.Errorf("told of %+v", failed)
		}
		asked("first", "at other/", words, "its last attempt failed: its time was up: other/y.do")
		begin("second")
		pass(time.Second)
		asked("second", "waits for thing/x.outer", "at other/", words)
		c.crash(n)
		host()
		pass(10 * time.Second)
		asked("first", "at other/", words) // by what is on record
	})
}
