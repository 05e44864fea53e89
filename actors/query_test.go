package actors_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors"
)

func TestAQueryRunsBesideMethodsAndSeesWhatIsRecorded(t *testing.T) {
	inBubble(t, func(c *cluster) {
		n := actors.NewValue[int](Thing, "n")
		set := actors.Declare[int, none](Thing, "set")
		get := actors.DeclareQuery[int, int](Thing, "get")
		ctx := c.things(
			actors.Handle(set, func(_ context.Context, self self, to int) (none, error) {
				err := n.Set(self, to)
				time.Sleep(10 * time.Second)
				return none{}, err
			}),
			actors.HandleShared(get, func(ctx context.Context, view actors.View[thing], times int) (int, error) {
				time.Sleep(time.Second)
				v, err := n.Get(ctx, view)
				return v * times, err
			}),
		)
		if get.Name() != "get" || set.Name() != "set" || Thing.Name() != "thing" {
			t.Error("names")
		}
		_, err := set.Call(ctx, Thing.Ref("x"), 1)
		c.ok(err)
		running := set.Go(ctx, Thing.Ref("x"), 2)
		pass(time.Second)
		began := time.Now()
		v, err := get.Call(ctx, Thing.Ref("x"), 10)
		equal(c, v, err, 10)
		if took := time.Since(began); took > 1500*time.Millisecond {
			t.Errorf("it took %v: it waited for the method", took)
		}
		_, err = running.Await(ctx)
		c.ok(err)
		v, err = get.Call(ctx, Thing.Ref("x"), 10)
		equal(c, v, err, 20)
	})
}

func TestAQueryReadsMaps(t *testing.T) {
	inBubble(t, func(c *cluster) {
		stock := actors.NewMap[string, int](Thing, "stock")
		put := actors.Declare[none, none](Thing, "put")
		list := actors.DeclareQuery[none, []string](Thing, "list")
		ctx := c.things(
			actors.Handle(put, func(_ context.Context, self self, _ none) (none, error) {
				return none{}, errors.Join(stock.Set(self, "b", 2), stock.Set(self, "a", 1))
			}),
			actors.HandleShared(list, func(ctx context.Context, view actors.View[thing], _ none) (all []string, err error) {
				for p, err := range stock.All(ctx, view) {
					if err != nil {
						return nil, err
					}
					all = append(all, p.Key)
				}
				_, there, err := stock.Get(ctx, view, "a")
				if !there {
					return nil, errors.New("it has no a")
				}
				return all, err
			}),
		)
		_, err := put.Call(ctx, Thing.Ref("x"), none{})
		c.ok(err)
		got, err := list.Call(ctx, Thing.Ref("x"), none{})
		if err != nil || !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestAQueryOfAMethodSeesWhatIsRecorded(t *testing.T) {
	inBubble(t, func(c *cluster) {
		n := actors.NewValue[int](Thing, "n")
		get := actors.DeclareQuery[none, int](Thing, "get")
		m := actors.Declare[none, int](Thing, "m")
		ctx := c.things(
			actors.HandleShared(get, func(ctx context.Context, view actors.View[thing], _ none) (int, error) {
				if view.ID() != "x" {
					return 0, errors.New("another actor")
				}
				return n.Get(ctx, view)
			}),
			actors.Handle(m, func(ctx context.Context, self self, in none) (int, error) {
				if err := n.Set(self, 5); err != nil {
					return 0, err
				}
				return get.Call(ctx, self.Ref(), in)
			}),
		)
		v, err := m.Call(ctx, Thing.Ref("x"), none{})
		equal(c, v, err, 0)
		v, err = m.Call(ctx, Thing.Ref("x"), none{})
		equal(c, v, err, 5)
	})
}

func TestAQuerysErrorsReachWhoAsks(t *testing.T) {
	inBubble(t, func(c *cluster) {
		q := actors.DeclareQuery[string, none](Thing, "q")
		m := actors.Declare[none, none](Thing, "m")
		ctx := c.things(
			actors.Handle(m, func(context.Context, self, none) (none, error) { return none{}, nil }),
			actors.HandleShared(q, func(ctx context.Context, _ actors.View[thing], how string) (none, error) {
				switch how {
				case "error":
					return none{}, errEmpty
				case "panic":
					panic("oh")
				case "call":
					return m.Call(ctx, Thing.Ref("y"), none{})
				default:
					time.Sleep(2 * time.Second)
					return none{}, nil
				}
			}),
		)
		_, err := q.Call(ctx, Thing.Ref("x"), "error")
		c.is(err, errEmpty)
		_, err = q.Call(ctx, Thing.Ref("x"), "panic")
		c.is(err, actors.ErrPoison)
		_, err = q.Call(ctx, Thing.Ref("x"), "call")
		if err == nil || err.Error() != actors.ErrNoNode.Error() {
			t.Errorf("a query called somebody: %v", err)
		}
		short, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		defer cancel()
		_, err = q.Call(short, Thing.Ref("x"), "wait")
		c.is(err, context.DeadlineExceeded)
		c.is(err, actors.ErrUnanswered)
	})
}

func TestQuestionsMayBeAskedSideBySide(t *testing.T) {
	inBubble(t, func(c *cluster) {
		get := actors.DeclareQuery[int, int](Thing, "get")
		ctx := c.things(actors.HandleShared(get, func(_ context.Context, _ actors.View[thing], v int) (int, error) {
			time.Sleep(time.Second)
			return v, nil
		}))
		synctest.Wait() // until there is an owner
		began := time.Now()
		var all []*actors.Pending[int]
		for i := range 10 {
			all = append(all, get.Go(ctx, Thing.Ref("x"), i))
		}
		for i, p := range all {
			v, err := p.Await(ctx)
			equal(c, v, err, i)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
		_, err := get.Go(context.Background(), Thing.Ref("x"), 1).Await(ctx)
		c.is(err, actors.ErrNoNode)
		late := get.Go(ctx, Thing.Ref("x"), 1)
		c.ok(c.nodes[0].Stop(c.Context()))
		_, err = late.Await(context.Background())
		if err != nil {
			c.is(err, actors.ErrStopped)
		}
		_, err = get.Go(ctx, Thing.Ref("x"), 1).Await(context.Background())
		c.is(err, actors.ErrStopped)
	})
}
