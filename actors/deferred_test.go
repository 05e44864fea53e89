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
	"github.com/backstay-go/backstay/actors/inspect"
)

// approvals are things whose method "ask" defers its reply.
type approvals struct {
	ask    actors.Method[none, string, thing]
	tokens []actors.Token[string]
	within time.Duration
}

func newApprovals() *approvals {
	return &approvals{ask: actors.Declare[none, string](Thing, "ask"), within: time.Hour}
}

func (a *approvals) handler() actors.Handler[thing] {
	return actors.HandleNext(a.ask, func(_ context.Context, self self, _ none) (actors.Next[string], error) {
		token, reply := actors.Defer[string](self, a.within)
		a.tokens = append(a.tokens, token)
		return reply, nil
	})
}

// asked begins a call that defers its reply, and waits until it has.
func (a *approvals) asked(ctx context.Context, id string, options ...actors.CallOption) *actors.Pending[string] {
	p := a.ask.Go(ctx, Thing.Ref(id), none{}, options...)
	synctest.Wait()
	return p
}

func TestADeferredReplyIsTheCallersValue(t *testing.T) {
	a := newApprovals()
	inBubble(t, func(c *cluster) {
		touch, touching := does("touch", func(context.Context, self, none) (none, error) { return none{}, nil })
		ctx := c.things(a.handler(), touching)
		p := a.asked(ctx, "x")
		_, err := touch.Call(ctx, Thing.Ref("x"), none{})
		c.ok(err) // the actor is free
		time.Sleep(59 * time.Minute)
		for _, p := range c.nodes[0].Inspect(ctx).Partitions {
			if p.Oldest > time.Minute {
				t.Errorf("an open reply looks like a request that is stuck for %v", p.Oldest)
			}
		}
		c.ok(a.tokens[0].Complete(ctx, "yes"))
		c.ok(a.tokens[0].Complete(ctx, "no"))
		c.ok(a.tokens[0].Fail(ctx, errEmpty))
		v, err := p.Await(ctx)
		equal(c, v, err, "yes")
		pass(time.Hour) // the reminder that it is too late was removed
		c.ok(a.tokens[0].Complete(ctx, "once more"))
		pass(30 * 24 * time.Hour) // and all is forgotten
		for one, err := range actors.List(ctx, Thing) {
			t.Errorf("there is still %v, %v", one, err)
		}
		if in := c.nodes[0].Inspect(ctx); slices.ContainsFunc(in.Partitions, func(p inspect.Partition) bool { return p.Requests > 0 }) {
			t.Errorf("%+v", in)
		}
	})
}

func TestADeferredReplyCanFail(t *testing.T) {
	a := newApprovals()
	inBubble(t, func(c *cluster) {
		ctx := c.things(a.handler())
		p := a.asked(ctx, "x")
		c.ok(a.tokens[0].Fail(ctx, errEmpty))
		_, err := p.Await(ctx)
		c.is(err, errEmpty)
		if a.tokens[0].Fail(ctx, nil) == nil {
			t.Error("it failed with nothing")
		}
	})
}

func TestADeferredReplyThatNobodyCompletesExpires(t *testing.T) {
	a := newApprovals()
	inBubble(t, func(c *cluster) {
		ctx := c.things(a.handler())
		began := time.Now()
		_, err := a.ask.Call(ctx, Thing.Ref("x"), none{})
		c.is(err, actors.ErrNotCompleted)
		if took := time.Since(began); took < a.within || took > a.within+time.Second {
			t.Errorf("after %v", took)
		}
		c.ok(a.tokens[0].Complete(ctx, "too late"))
		if !strings.Contains(err.Error(), "in time") {
			t.Error(err)
		}
	})
}

func TestADeferredReplySurvivesItsProcesses(t *testing.T) {
	a := newApprovals()
	inBubble(t, func(c *cluster) {
		host := func() *actors.Node {
			return c.open(actors.Config{}, actors.Host(Thing, actors.Settings{}, a.handler()))
		}
		client := c.on(c.open(actors.Config{}))
		for _, id := range []string{"completed while nobody hosts it", "completed by the next host", "too late"} {
			n := host()
			p := a.asked(client, id)
			token := a.tokens[len(a.tokens)-1]
			c.crash(n)
			switch id {
			case "completed while nobody hosts it":
				c.ok(token.Complete(client, "yes"))
				n = host()
			case "completed by the next host":
				n = host()
				pass(30 * time.Minute)
				c.ok(token.Complete(client, "yes"))
			default:
				pass(2 * time.Hour)
				n = host()
			}
			v, err := p.Await(client)
			if id == "too late" {
				c.is(err, actors.ErrNotCompleted)
			} else {
				equal(c, v, err, "yes")
			}
			c.ok(n.Stop(c.Context()))
		}
		if len(a.tokens) != 3 {
			t.Errorf("the method ran %d times", len(a.tokens))
		}
	})
}

func TestAReplyMayBeCompletedBeforeItsStepIsOnRecord(t *testing.T) {
	inBubble(t, func(c *cluster) {
		ask := actors.Declare[none, string](Thing, "ask")
		var ctx context.Context
		var tokens []actors.Token[string]
		ctx = c.things(actors.HandleNext(ask, func(_ context.Context, self self, _ none) (actors.Next[string], error) {
			token, reply := actors.Defer[string](self, time.Hour)
			if tokens = append(tokens, token); len(tokens) == 1 {
				c.ok(token.Complete(ctx, "yes"))
				synctest.Wait()
				return reply, actors.Retry(errEmpty, time.Minute)
			}
			return reply, nil
		}))
		v, err := ask.Call(ctx, Thing.Ref("x"), none{})
		equal(c, v, err, "yes")
		if len(tokens) != 2 || tokens[0] != tokens[1] {
			t.Errorf("a retry has another token: %q", tokens)
		}
	})
}

func TestACallerThatIsRetriedGetsTheSameReply(t *testing.T) {
	a := newApprovals()
	inBubble(t, func(c *cluster) {
		buys := 0
		buy, buying := does("buy", func(ctx context.Context, _ self, _ none) (string, error) {
			v, err := a.ask.Call(ctx, Thing.Ref("manager"), none{})
			if buys++; buys == 1 {
				return "", actors.Retry(errEmpty, 0)
			}
			return v, err
		})
		ctx := c.things(a.handler(), buying)
		p := buy.Go(ctx, Thing.Ref("x"), none{})
		synctest.Wait()
		c.ok(a.tokens[0].Complete(ctx, "yes"))
		v, err := p.Await(ctx)
		equal(c, v, err, "yes")
		if len(a.tokens) != 2 || a.tokens[0] != a.tokens[1] || buys != 2 {
			t.Errorf("%d purchases, tokens %q", buys, a.tokens)
		}
	})
}

func TestAMethodCompletesWithItsStep(t *testing.T) {
	a := newApprovals()
	inBubble(t, func(c *cluster) {
		decisions := 0
		decide, deciding := does("decide", func(ctx context.Context, _ self, token actors.Token[string]) (none, error) {
			decisions++
			if decisions == 1 {
				return none{}, errors.Join(token.Complete(ctx, "a step that failed"), errEmpty)
			}
			return none{}, token.Complete(ctx, "yes")
		})
		ctx := c.things(a.handler(), deciding)
		p := a.asked(ctx, "x")
		_, err := decide.Call(ctx, Thing.Ref("manager"), a.tokens[0])
		c.is(err, errEmpty)
		_, err = decide.Call(ctx, Thing.Ref("manager"), a.tokens[0])
		c.ok(err)
		v, err := p.Await(ctx)
		equal(c, v, err, "yes")
	})
}

func TestADeferredReplyNeedsATimeAndATokenItsForm(t *testing.T) {
	a := newApprovals()
	a.within = 0
	inBubble(t, func(c *cluster) {
		ctx := c.things(a.handler())
		if _, err := a.ask.Call(ctx, Thing.Ref("x"), none{}); err == nil || !strings.Contains(err.Error(), "must be positive") {
			t.Error(err)
		}
		for _, bad := range []actors.Token[string]{"", "/", "thing", "thing/", "/x", "THING/x", "thing/x"} {
			if err := bad.Complete(ctx, "yes"); err == nil || !strings.Contains(err.Error(), "no token") {
				t.Errorf("%q: %v", bad, err)
			}
		}
		c.is(actors.Token[string]("thing/x").Complete(context.Background(), "yes"), actors.ErrNoNode)
		c.ok(actors.Token[string]("thing/8e03978e-40d5-83dd-bc93-6894a57f9324").Complete(ctx, "yes")) // nobody has made it
		if actors.Token[func()]("thing/x").Complete(ctx, func() {}) == nil {
			t.Error("a value that cannot be encoded")
		}
	})
}

// Where a reply is waited for is an actor, too, with an id that users' actors
// cannot have; theirs may begin with the same word.
func TestIdsOfDeferredRepliesAreNobodyElses(t *testing.T) {
	a := newApprovals()
	inBubble(t, func(c *cluster) {
		keep := actors.NewValue[int](Thing, "kept")
		touch, touching := does("touch", func(_ context.Context, self self, _ none) (none, error) { return none{}, keep.Set(self, 1) })
		goes := actors.Declare[actors.Ref[thing], none](Thing, "goes")
		going := actors.HandleNext(goes, func(_ context.Context, _ self, to actors.Ref[thing]) (actors.Next[none], error) {
			return touch.TailTo(to, none{}), nil
		})
		ctx := c.things(a.handler(), touching, going)
		p := a.asked(ctx, "x")
		_, place, _ := strings.Cut(string(a.tokens[0]), "/")
		users := []string{"deferred.", "deferred." + place + "x", "deferred.payments", "deferred." + strings.ToUpper(place)}
		for _, id := range users {
			_, err := touch.Call(ctx, Thing.Ref(id), none{})
			c.ok(err)
		}
		var listed []string
		for one, err := range actors.List(ctx, Thing) {
			c.ok(err)
			listed = append(listed, one.Ref.ID)
		}
		slices.Sort(listed)
		slices.Sort(users)
		if !slices.Equal(listed, users) {
			t.Errorf("listed are %q, want %q", listed, users)
		}
		theirs := Thing.Ref("deferred." + place)
		_, called := touch.Call(ctx, theirs, none{})
		_, went := goes.Call(ctx, Thing.Ref("x"), theirs)
		for how, err := range map[string]error{"called": called, "told": touch.Tell(ctx, theirs, none{}), "tail-called": went} {
			if err == nil || !strings.Contains(err.Error(), "deferred reply") {
				t.Errorf("%s: %v", how, err)
			}
		}
		c.ok(a.tokens[0].Complete(ctx, "yes"))
		v, err := p.Await(ctx)
		equal(c, v, err, "yes")
	})
}

func TestAFullMailboxTakesInWhatCompletesAReply(t *testing.T) {
	a := newApprovals()
	inBubble(t, func(c *cluster) {
		ctx := c.thingsWith(actors.Settings{Mailbox: 1}, a.handler())
		synctest.Wait()
		p := a.asked(ctx, "x")
		c.ok(a.tokens[0].Complete(ctx, "yes"))
		v, err := p.Await(ctx)
		equal(c, v, err, "yes")
	})
}

func TestATellMayDeferItsReply(t *testing.T) {
	a := newApprovals()
	inBubble(t, func(c *cluster) {
		ctx := c.things(a.handler())
		c.ok(a.ask.Tell(ctx, Thing.Ref("x"), none{}, actors.IdempotencyKey("k")))
		synctest.Wait()
		_, err := a.ask.Result(ctx, Thing.Ref("x"), "k")
		c.is(err, actors.ErrPending)
		c.ok(a.tokens[0].Complete(ctx, "yes"))
		synctest.Wait()
		v, err := a.ask.Result(ctx, Thing.Ref("x"), "k")
		equal(c, v, err, "yes")
	})
}

func TestADeferredReplyNeedsNoInstance(t *testing.T) {
	a := newApprovals()
	inBubble(t, func(c *cluster) {
		var d diary
		ctx := c.on(c.open(actors.Config{}, actors.HostInstances(Thing, actors.Settings{}, func(_ context.Context, self self) (*lamp, error) {
			d.write("activated " + self.ID())
			return &lamp{id: self.ID(), d: &d}, nil
		}, a.handler())))
		p := a.asked(ctx, "x")
		c.ok(a.tokens[0].Complete(ctx, "yes"))
		v, err := p.Await(ctx)
		equal(c, v, err, "yes")
		if got := d.all(); !slices.Equal(got, []string{"activated x"}) {
			t.Errorf("got %q", got)
		}
	})
}
