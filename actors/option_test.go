package actors_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors"
)

func TestRequestsWithOneIdempotencyKeyAreOne(t *testing.T) {
	inBubble(t, func(c *cluster) {
		runs := 0
		count, h := does("count", func(context.Context, self, none) (int, error) { runs++; return runs, nil })
		fail, g := does("fail", func(context.Context, self, none) (int, error) { runs++; return 0, errEmpty })
		ctx := c.things(h, g)
		for range 3 {
			n, err := count.Call(ctx, Thing.Ref("x"), none{}, actors.IdempotencyKey("k"))
			equal(c, n, err, 1)
		}
		c.ok(count.Tell(ctx, Thing.Ref("x"), none{}, actors.IdempotencyKey("k")))
		n, err := count.Call(ctx, Thing.Ref("x"), none{}, actors.IdempotencyKey("other"))
		equal(c, n, err, 2)
		n, err = count.Call(ctx, Thing.Ref("y"), none{}, actors.IdempotencyKey("k")) // another actor
		equal(c, n, err, 3)
		for range 2 {
			_, err = fail.Call(ctx, Thing.Ref("x"), none{}, actors.IdempotencyKey("k")) // another method
			c.is(err, errEmpty)
		}
		if runs != 4 {
			t.Errorf("%d runs", runs)
		}
	})
}

func TestAnAnswerIsKeptForTheWindow(t *testing.T) {
	inBubble(t, func(c *cluster) {
		runs := 0
		count, h := does("count", func(context.Context, self, none) (int, error) { runs++; return runs, nil })
		ctx := c.on(c.open(actors.Config{Window: time.Minute}, actors.Host(Thing, actors.Settings{}, h)))
		ask := func(want int) {
			n, err := count.Call(ctx, Thing.Ref("x"), none{}, actors.IdempotencyKey("k"))
			equal(c, n, err, want)
		}
		ask(1)
		pass(50 * time.Second)
		ask(1)
		pass(10 * time.Minute)
		ask(2)
	})
}

func TestAnIdempotencyKeyIsForRequestsFromOutside(t *testing.T) {
	inBubble(t, func(c *cluster) {
		s := script(c)
		s.todo = append(s.todo, func(context.Context, self) error { return nil })
		c.ok(s.on("x", func(ctx context.Context, _ self) error {
			_, call := s.run.Call(ctx, Thing.Ref("y"), 0, actors.IdempotencyKey("k"))
			tell := s.run.Tell(ctx, Thing.Ref("y"), 0, actors.IdempotencyKey("k"))
			for _, err := range []error{call, tell} {
				if err == nil || !strings.Contains(err.Error(), "use Name") {
					t.Error(err)
				}
			}
			return nil
		}))
	})
}

func TestACalleeSeesTheSameKeyInEveryRetryOfItsCaller(t *testing.T) {
	inBubble(t, func(c *cluster) {
		pay := actors.Declare[none, string](Thing, "pay")
		order := actors.Declare[none, none](Thing, "order")
		keys := make(map[string][]string) // by the name of the call
		attempts := 0
		ctx := c.things(
			actors.Handle(pay, func(_ context.Context, self self, _ none) (string, error) {
				return self.IdempotencyKey("charge"), nil
			}),
			actors.Handle(order, func(ctx context.Context, _ self, in none) (none, error) {
				attempts++
				names := []string{"first", "second"}
				if attempts > 1 {
					names = []string{"second", "first"} // in another order
				}
				for _, name := range names {
					k, err := pay.Call(ctx, Thing.Ref("till"), in, actors.Name(name))
					if err != nil {
						return none{}, err
					}
					keys[name] = append(keys[name], k)
				}
				if attempts < 2 {
					return none{}, actors.Retry(errors.New("again"), 0)
				}
				return none{}, nil
			}),
		)
		_, err := order.Call(ctx, Thing.Ref("x"), none{})
		c.ok(err)
		if a, b := keys["first"], keys["second"]; len(a) != 2 || a[0] != a[1] || b[0] != b[1] || a[0] == b[0] {
			t.Errorf("keys %q", keys)
		}
	})
}

func TestSelfTellsWhatARequestIs(t *testing.T) {
	inBubble(t, func(c *cluster) {
		first := actors.Declare[none, []string](Thing, "first")
		second := actors.Declare[string, []string](Thing, "second")
		ctx := c.things(
			actors.HandleNext(first, func(_ context.Context, self self, _ none) (actors.Next[[]string], error) {
				if self.ID() != "x" || self.Ref() != Thing.Ref("x") || self.Attempt() != 1 || self.FencingToken() == 0 || self.Missed() != 0 || !self.Deadline().IsZero() {
					t.Error("self is of another mind")
				}
				return second.Tail(self, self.RequestID()+" "+self.IdempotencyKey("k")), nil
			}),
			actors.Handle(second, func(_ context.Context, self self, before string) ([]string, error) {
				return []string{before, self.RequestID() + " " + self.IdempotencyKey("k")}, nil
			}),
		)
		got, err := first.Call(ctx, Thing.Ref("x"), none{})
		c.ok(err)
		before, after := strings.Fields(got[0]), strings.Fields(got[1])
		if before[0] != after[0] || before[1] == after[1] {
			t.Errorf("%q: want one request id, and a key for each link", got)
		}
	})
}
