package actors_test

import (
	"context"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/memory"
)

func TestWhatCannotBeHostedIsRefused(t *testing.T) {
	do := actors.Declare[none, none](Thing, "do")
	ask := actors.DeclareQuery[none, none](Thing, "ask")
	whole := actors.Handle(do, func(context.Context, self, none) (none, error) { return none{}, nil })
	turn := actors.HandleOn(Turn, (*lamp).turn)
	var undeclared actors.Method[none, none, thing]
	makes := func(context.Context, self) (*lamp, error) { return &lamp{}, nil }
	other := func(context.Context, self) (*none, error) { return &none{}, nil }
	host := func(all ...actors.Handler[thing]) actors.Hosting {
		return actors.Host(Thing, actors.Settings{}, all...)
	}
	on := func(activate func(context.Context, self) (*lamp, error), all ...actors.Handler[thing]) actors.Hosting {
		return actors.HostInstances(Thing, actors.Settings{}, activate, all...)
	}
	for words, h := range map[string]actors.Hosting{
		"a handler of type \"thing\" has no method":              host(actors.Handler[thing]{}, whole),
		"handler of type \"thing\" has no method: make it":       host(actors.Handle(undeclared, func(context.Context, self, none) (none, error) { return none{}, nil })),
		"the handler of thing.do has no function":                host(actors.Handle[none, none](do, nil)),
		"handler of thing.do has no function":                    host(actors.HandleNext[none, none](do, nil)),
		"of thing.do has no function":                            on(makes, actors.HandleOn[lamp, none, none](do, nil)),
		"thing.do has no function":                               on(makes, actors.HandleNextOn[lamp, none, none](do, nil)),
		"the handler of thing.ask has no function":               host(actors.HandleShared[none, none](ask, nil)),
		"needs an instance of type *actors_test.lamp: host":      host(turn),
		"needs an instance of type *actors_test.lamp, and":       actors.HostInstances(Thing, actors.Settings{}, other, turn),
		"with instances, and without a function that makes them": on(nil, turn),
	} {
		n, err := actors.Open(t.Context(), actors.Config{}, memory.New(), h)
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", words, err)
		}
		if n != nil {
			t.Errorf("%q: it opened", words)
		}
	}
}

func TestActorsWithInstancesMayHaveMethodsThatDoNotWantThem(t *testing.T) {
	inBubble(t, func(c *cluster) {
		do, handler := does("do", func(_ context.Context, self self, _ none) (string, error) { return self.ID(), nil })
		ctx := c.on(c.open(actors.Config{}, actors.HostInstances(Thing, actors.Settings{},
			func(context.Context, self) (*lamp, error) { return &lamp{id: "x", d: new(diary)}, nil }, handler, actors.HandleOn(Turn, (*lamp).turn))))
		v, err := do.Call(ctx, Thing.Ref("x"), none{})
		equal(c, v, err, "x")
		_, err = Turn.Call(ctx, Thing.Ref("x"), none{})
		c.ok(err)
	})
}
