package actors_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors"
)

func TestACallerOfAChainGetsItsLastValue(t *testing.T) {
	inBubble(t, func(c *cluster) {
		step := actors.Declare[int, int](Thing, "step")
		hops := actors.NewValue[int](Thing, "hops")
		ctx := c.things(actors.HandleNext(step, func(ctx context.Context, self self, left int) (next actors.Next[int], err error) {
			n, err := hops.Get(ctx, self)
			if err != nil {
				return next, err
			}
			if err := hops.Set(self, n+1); err != nil {
				return next, err
			}
			switch {
			case left == 0:
				return actors.Return(n + 1), nil
			case left%3 == 0:
				return step.Tail(self, left-1), nil
			case left%3 == 1:
				return step.TailRelease(self, left-1), nil
			default:
				return step.TailTo(self.Ref(), left-1), nil
			}
		}))
		got, err := step.Call(ctx, Thing.Ref("x"), 20)
		equal(c, got, err, 21)
	})
}

func TestATailCallGoesOnAtAnotherActor(t *testing.T) {
	inBubble(t, func(c *cluster) {
		carry := actors.Declare[[]string, string](Thing, "carry")
		ctx := c.things(actors.HandleNext(carry, func(_ context.Context, self self, way []string) (actors.Next[string], error) {
			if len(way) == 0 {
				return actors.Return("arrived at " + self.ID()), nil
			}
			return carry.TailTo(Thing.Ref(way[0]), way[1:]), nil
		}))
		got, err := carry.Call(ctx, Thing.Ref("a"), []string{"b", "c", "d"})
		equal(c, got, err, "arrived at d")
	})
}

// queueing tells an actor to begin a chain of two links, while two notes wait
// behind its first, and returns the order in which they ran.
func queueing(c *cluster, second func(m actors.Method[string, none, thing], self self) actors.Next[none]) []string {
	var d diary
	first := actors.Declare[none, none](Thing, "first")
	note := actors.Declare[string, none](Thing, "note")
	ctx := c.things(
		actors.HandleNext(first, func(_ context.Context, self self, _ none) (actors.Next[none], error) {
			time.Sleep(time.Second)
			d.write("first")
			return second(note, self), nil
		}),
		actors.Handle(note, func(_ context.Context, _ self, line string) (none, error) {
			d.write(line)
			return none{}, nil
		}),
	)
	c.ok(first.Tell(ctx, Thing.Ref("x"), none{}))
	c.ok(note.Tell(ctx, Thing.Ref("x"), "queued"))
	time.Sleep(2 * time.Second)
	synctest.Wait()
	return d.all()
}

func TestATailCallRunsBeforeWhatIsQueuedUnlessItReleasesTheActor(t *testing.T) {
	for name, row := range map[string]struct {
		second func(m actors.Method[string, none, thing], self self) actors.Next[none]
		want   []string
	}{
		"Tail": {
			func(m actors.Method[string, none, thing], self self) actors.Next[none] {
				return m.Tail(self, "second")
			},
			[]string{"first", "second", "queued"},
		},
		"TailRelease": {
			func(m actors.Method[string, none, thing], self self) actors.Next[none] {
				return m.TailRelease(self, "second")
			},
			[]string{"first", "queued", "second"},
		},
		"TailTo the own address": {
			func(m actors.Method[string, none, thing], self self) actors.Next[none] {
				return m.TailTo(self.Ref(), "second")
			},
			[]string{"first", "queued", "second"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(c *cluster) {
				if got := queueing(c, row.second); !slices.Equal(got, row.want) {
					t.Errorf("got %q, want %q", got, row.want)
				}
			})
		})
	}
}

func TestAZeroNextIsTheZeroValue(t *testing.T) {
	inBubble(t, func(c *cluster) {
		m := actors.Declare[none, int](Thing, "m")
		got, err := m.Call(c.things(actors.HandleNext(m, func(context.Context, self, none) (next actors.Next[int], err error) {
			return next, nil
		})), Thing.Ref("x"), none{})
		equal(c, got, err, 0)
	})
}

func TestATailCallThatIsReturnedWithAnErrorIsNotMade(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var ran bool
		other := actors.Declare[none, none](Thing, "other")
		m := actors.Declare[none, none](Thing, "m")
		ctx := c.things(
			actors.Handle(other, func(context.Context, self, none) (none, error) { ran = true; return none{}, nil }),
			actors.HandleNext(m, func(_ context.Context, self self, in none) (actors.Next[none], error) {
				return other.Tail(self, in), errEmpty
			}),
		)
		_, err := m.Call(ctx, Thing.Ref("x"), none{})
		c.is(err, errEmpty)
		if ran {
			t.Error("it was made")
		}
	})
}

func TestATailCallThatCannotBeEncodedIsTheCallsResult(t *testing.T) {
	inBubble(t, func(c *cluster) {
		give := actors.Declare[func(), none](Thing, "give")
		m := actors.Declare[none, none](Thing, "m")
		nowhere := actors.Declare[none, none](Thing, "nowhere")
		ctx := c.things(
			actors.Handle(give, func(context.Context, self, func()) (none, error) { return none{}, nil }),
			actors.HandleNext(m, func(_ context.Context, self self, _ none) (actors.Next[none], error) {
				return give.Tail(self, func() {}), nil
			}),
			actors.HandleNext(nowhere, func(_ context.Context, _ self, in none) (actors.Next[none], error) {
				return m.TailTo(actors.Ref[thing]{}, in), nil
			}),
		)
		_, err := m.Call(ctx, Thing.Ref("x"), none{})
		if err == nil || !strings.Contains(err.Error(), "argument of thing/x.give") {
			t.Error(err)
		}
		_, err = nowhere.Call(ctx, Thing.Ref("x"), none{})
		if err == nil || !strings.Contains(err.Error(), "the reference is empty") {
			t.Error(err)
		}
	})
}

func TestOnlyTheLastLinkOfAChainIsRetried(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var d diary
		take := actors.Declare[none, none](Thing, "take")
		put := actors.Declare[none, none](Thing, "put")
		fails := 2
		ctx := c.things(
			actors.HandleNext(take, func(_ context.Context, self self, in none) (actors.Next[none], error) {
				d.write("take")
				return put.Tail(self, in), nil
			}),
			actors.Handle(put, func(context.Context, self, none) (none, error) {
				d.write("put")
				if fails--; fails >= 0 {
					return none{}, actors.Retry(errors.New("not now"), 0)
				}
				return none{}, nil
			}),
		)
		_, err := take.Call(ctx, Thing.Ref("x"), none{})
		c.ok(err)
		if got := d.all(); !slices.Equal(got, []string{"take", "put", "put", "put"}) {
			t.Errorf("got %q", got)
		}
	})
}
