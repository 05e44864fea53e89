package actors_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors"
)

func TestBaggageTravelsAlongAChain(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var d diary
		note := func(ctx context.Context, what string) { d.write(what + ": " + actors.BaggageFrom(ctx)["tenant"]) }
		leaf := actors.Declare[string, none](Thing, "leaf")
		root := actors.Declare[none, none](Thing, "root")
		asked := actors.DeclareQuery[none, none](Thing, "asked")
		ctx := c.things(
			actors.Handle(leaf, func(ctx context.Context, _ self, what string) (none, error) {
				note(ctx, what)
				return none{}, nil
			}),
			actors.HandleNext(root, func(ctx context.Context, self self, _ none) (next actors.Next[none], err error) {
				note(ctx, "root")
				if _, err := leaf.Call(ctx, Thing.Ref("a"), "call"); err != nil {
					return next, err
				}
				if _, err := leaf.Call(actors.WithBaggage(ctx, "tenant", "red"), Thing.Ref("a"), "changed"); err != nil {
					return next, err
				}
				if err := leaf.Tell(ctx, Thing.Ref("b"), "tell"); err != nil {
					return next, err
				}
				if err := leaf.Remind(self, "r", actors.After(time.Minute), "reminder"); err != nil {
					return next, err
				}
				leaf.Timer(self, time.Hour, "timer")
				return leaf.Tail(self, "tail"), nil
			}),
			actors.HandleShared(asked, func(ctx context.Context, _ actors.View[thing], _ none) (none, error) {
				note(ctx, "query")
				return none{}, nil
			}),
		)
		blue := actors.WithBaggage(ctx, "tenant", "blue")
		_, err := root.Call(blue, Thing.Ref("x"), none{})
		c.ok(err)
		_, err = asked.Call(blue, Thing.Ref("x"), none{})
		c.ok(err)
		_, err = leaf.Call(actors.WithBaggage(blue, "tenant", ""), Thing.Ref("x"), "nothing")
		c.ok(err)
		pass(2 * time.Hour)
		synctest.Wait()
		got := make(map[string]bool)
		for _, line := range d.all() {
			got[line] = true
		}
		for _, want := range []string{
			"root: blue", "call: blue", "changed: red", "tell: blue", "reminder: blue", "timer: blue", "tail: blue", "query: blue", "nothing: ",
		} {
			if !got[want] {
				t.Errorf("%q is missing in %q", want, d.all())
			}
		}
		if len(actors.BaggageFrom(ctx)) != 0 || actors.BaggageFrom(blue)["tenant"] != "blue" {
			t.Error("a context was changed that baggage was added to")
		}
	})
}
