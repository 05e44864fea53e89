package actors_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/retry"
)

// lamp is the instance of a thing.
type lamp struct {
	id    string
	turns int
	d     *diary
}

// Passivate notes that it is dropped.
func (l *lamp) Passivate(context.Context) error {
	l.d.write("passivated " + l.id)
	if l.id == "sad" {
		return errors.New("it is sad")
	}
	return nil
}

func (l *lamp) turn(context.Context, self, none) (int, error) {
	l.turns++
	return l.turns, nil
}

var (
	Turn   = actors.Declare[none, int](Thing, "turn")
	TurnTo = actors.Declare[none, int](Thing, "turn-to")
	Scrap  = actors.Declare[none, none](Thing, "scrap")
	Light  = actors.DeclareQuery[none, string](Thing, "light")
)

func hostLamps(d *diary, idle time.Duration) actors.Hosting {
	return actors.HostInstances(Thing, actors.Settings{IdleAfter: idle},
		func(_ context.Context, self self) (*lamp, error) {
			d.write("activated " + self.ID())
			switch self.ID() {
			case "broken":
				return nil, errEmpty
			case "mad":
				panic("it is mad")
			}
			return &lamp{id: self.ID(), d: d}, nil
		},
		actors.HandleOn(Turn, (*lamp).turn),
		actors.HandleNextOn(TurnTo, func(l *lamp, _ context.Context, self self, in none) (actors.Next[int], error) {
			l.turns += 10
			return Turn.Tail(self, in), nil
		}),
		actors.HandleOn(Scrap, func(_ *lamp, _ context.Context, self self, _ none) (none, error) { return none{}, self.Delete() }),
		actors.HandleShared(Light, func(_ context.Context, view actors.View[thing], _ none) (string, error) { return view.ID(), nil }),
	)
}

func TestAnInstanceLivesUntilItsActorWasIdle(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var d diary
		ctx := c.on(c.open(actors.Config{}, hostLamps(&d, time.Minute)))
		turn := func(want int) {
			n, err := Turn.Call(ctx, Thing.Ref("x"), none{})
			equal(c, n, err, want)
		}
		turn(1)
		pass(50 * time.Second)
		turn(2)
		pass(50 * time.Second)
		n, err := TurnTo.Call(ctx, Thing.Ref("x"), none{})
		equal(c, n, err, 13)
		pass(2 * time.Minute)
		turn(1)
		if got := d.all(); !slices.Equal(got, []string{"activated x", "passivated x", "activated x"}) {
			t.Errorf("got %q", got)
		}
		id, err := Light.Call(ctx, Thing.Ref("y"), none{})
		equal(c, id, err, "y")
	})
}

func TestADeletedActorStartsAnew(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var d diary
		ctx := c.on(c.open(actors.Config{}, hostLamps(&d, 0)))
		n, err := Turn.Call(ctx, Thing.Ref("x"), none{})
		equal(c, n, err, 1)
		_, err = Scrap.Call(ctx, Thing.Ref("x"), none{})
		c.ok(err)
		n, err = Turn.Call(ctx, Thing.Ref("x"), none{})
		equal(c, n, err, 1)
		if got := d.all(); !slices.Equal(got, []string{"activated x", "passivated x", "activated x"}) {
			t.Errorf("got %q", got)
		}
	})
}

func TestAnActivationThatFailsIsTheCallsResult(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var d diary
		ctx := c.on(c.open(actors.Config{}, hostLamps(&d, 0)))
		_, err := Turn.Call(ctx, Thing.Ref("broken"), none{})
		c.is(err, errEmpty)
		if got := d.all(); !slices.Equal(got, []string{"activated broken"}) {
			t.Errorf("got %q", got)
		}
		_, err = Turn.Call(ctx, Thing.Ref("mad"), none{})
		c.is(err, actors.ErrPoison)
	})
}

func TestAPassivationThatFailsIsTold(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var d diary
		ctx := c.on(c.open(actors.Config{}, hostLamps(&d, time.Second)))
		_, err := Turn.Call(ctx, Thing.Ref("sad"), none{})
		c.ok(err)
		pass(time.Minute)
		synctest.Wait()
		if told := c.heard.Events(backstay.PassivationFailed); len(told) != 1 || told[0].Policy != "thing" || told[0].Err == nil {
			t.Errorf("told %+v", told)
		}
	})
}

func TestAnActivationMayReadAndNotCall(t *testing.T) {
	inBubble(t, func(c *cluster) {
		v := actors.NewValue[int](Thing, "v")
		odd := actors.NewValue[func()](Thing, "odd")
		get := actors.Declare[none, int](Thing, "get")
		var called error
		ctx := c.on(c.open(actors.Config{}, actors.HostInstances(Thing, actors.Settings{},
			func(ctx context.Context, self self) (*lamp, error) {
				if self.ID() == "odd" {
					_ = odd.Set(self, func() {})
				}
				_, called = get.Call(ctx, Thing.Ref("other"), none{})
				n, err := v.Get(ctx, self)
				return &lamp{turns: n + 1}, err
			},
			actors.HandleOn(get, func(l *lamp, _ context.Context, self self, _ none) (int, error) {
				return l.turns, v.Set(self, 41)
			}))))
		n, err := get.Call(ctx, Thing.Ref("x"), none{})
		equal(c, n, err, 1)
		c.is(called, actors.ErrBusy)
		if _, err = get.Call(ctx, Thing.Ref("odd"), none{}); err == nil {
			t.Error("an activation that wrote what cannot be encoded")
		}
		c.ok(c.nodes[0].Stop(context.Background()))
	})
}

// What a method wrote before it failed is dropped; what it did to its instance
// must not outlive that.
func TestAnInstanceDoesNotOutliveAStepThatFailed(t *testing.T) {
	type tally struct{ n int }
	kept := actors.NewValue[int](Thing, "kept")
	step := actors.Declare[string, int](Thing, "step")
	inBubble(t, func(c *cluster) {
		failed := false
		atOnce := actors.Settings{Retry: retry.Config{Base: time.Microsecond, Cap: time.Microsecond}}
		ctx := c.on(c.open(actors.Config{}, actors.HostInstances(Thing, atOnce,
			func(ctx context.Context, self self) (*tally, error) {
				n, err := kept.Get(ctx, self)
				return &tally{n}, err
			},
			actors.HandleOn(step, func(mine *tally, _ context.Context, self self, how string) (int, error) {
				mine.n++
				if err := kept.Set(self, mine.n); err != nil {
					return 0, err
				}
				switch {
				case how == "error":
					return 0, errors.New("no")
				case how == "retry" && !failed:
					failed = true
					return 0, actors.Retry(errors.New("not yet"), 0)
				}
				return mine.n, nil
			}))))
		for i, how := range []string{"well", "error", "well", "retry", "well"} {
			got, err := step.Call(ctx, Thing.Ref("t"), how)
			if want := []int{1, 0, 2, 3, 4}[i]; got != want || (err != nil) != (how == "error") {
				c.Errorf("%d, %s: %d, %v, want %d", i, how, got, err, want)
			}
		}
	})
}
