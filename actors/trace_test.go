package actors_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
)

// tracer writes down the spans, by the names of those above them.
type tracer struct{ diary }

type spanKey struct{}

func (t *tracer) StartRequest(ctx context.Context, r actors.Invocation) (context.Context, func(error)) {
	return t.span(ctx, "ask "+r.Method, &r)
}

func (t *tracer) StartRun(ctx context.Context, run actors.Invocation, from actors.Baggage) (context.Context, func(error)) {
	return t.span(context.WithValue(ctx, spanKey{}, from["span"]), run.Method, &run)
}

func (t *tracer) Inject(ctx context.Context, into actors.Baggage) {
	if path, _ := ctx.Value(spanKey{}).(string); path != "" {
		into["span"] = path
	}
}

func (t *tracer) span(ctx context.Context, name string, in *actors.Invocation) (context.Context, func(error)) {
	path, _ := ctx.Value(spanKey{}).(string)
	path = strings.TrimPrefix(path+" > "+name, " > ")
	if in.Type != "thing" || in.ID == "" {
		t.write("a span of nobody")
	}
	return context.WithValue(ctx, spanKey{}, path), func(err error) {
		line := path
		switch {
		case in.Tell:
			line += " (tell)"
		case in.Query:
			line += " (query)"
		}
		if in.Link > 0 {
			line += " link"
		}
		if in.Attempt > 1 || in.FencingToken > 1 {
			line += " again"
		}
		t.write(line + ": " + backstay.Classify(err).Class.String())
	}
}

func TestSpansFollowAChainOfCalls(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var tr tracer
		leaf := actors.Declare[string, none](Thing, "leaf")
		root := actors.Declare[none, none](Thing, "root")
		ask := actors.DeclareQuery[none, none](Thing, "query")
		failures := 1
		node := c.open(actors.Config{Tracer: &tr}, actors.Host(Thing, actors.Settings{},
			actors.Handle(leaf, func(_ context.Context, _ self, how string) (none, error) {
				switch {
				case how == "fail":
					return none{}, errEmpty
				case how == "flaky" && failures > 0:
					failures--
					return none{}, actors.Retry(errEmpty, time.Second)
				case how == "panic" && failures > -1:
					failures--
					panic("on purpose")
				}
				return none{}, nil
			}),
			actors.HandleNext(root, func(ctx context.Context, self self, _ none) (next actors.Next[none], err error) {
				for _, how := range []string{"flaky", "panic", "fail"} {
					_, _ = leaf.Call(ctx, Thing.Ref(how), how)
				}
				if _, err := ask.Call(ctx, Thing.Ref("x"), none{}); err != nil {
					return next, err
				}
				return leaf.Tail(self, ""), leaf.Tell(ctx, Thing.Ref("t"), "")
			}),
			actors.HandleShared(ask, func(context.Context, actors.View[thing], none) (none, error) { return none{}, nil }),
		))
		_, err := root.Call(c.on(node), Thing.Ref("x"), none{})
		c.ok(err)
		c.ok(leaf.Tell(c.on(node), Thing.Ref("z"), ""))
		pass(time.Minute)
		want := []string{
			"ask root > root > leaf: transient", "ask root > root > leaf again: success", // flaky
			"ask root > root > leaf: transient", "ask root > root > leaf again: success", // panic
			"ask root > root > leaf: permanent", // fail
			"ask root > root > ask query > query (query): success", "ask root > root > ask query (query): success",
			"ask root > root: success", "ask root > root > leaf (tell): success", "ask root > leaf link: success", "ask root: success",
			"ask leaf (tell): success", "ask leaf > leaf (tell): success",
		}
		got := tr.all()
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestTheSpanOfARequestTellsWhatItsCallerGets(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var tr tracer
		do, doing := does("do", func(context.Context, self, none) (none, error) { return none{}, errEmpty })
		node := c.open(actors.Config{Tracer: &tr}, actors.Host(Thing, actors.Settings{}, doing))
		_, err := do.Call(c.on(node), Thing.Ref("x"), none{})
		c.is(err, errEmpty)
		gone, cancel := context.WithCancel(c.on(node))
		cancel()
		_, err = do.Call(gone, Thing.Ref("x"), none{})
		c.is(err, context.Canceled)
		want := []string{"ask do > do: permanent", "ask do: permanent", "ask do: canceled"}
		if got := tr.all(); !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	})
}

func TestARunThatLostItsActorIsNoFailureOfItsTrace(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var tr tracer
		runs := 0
		do, doing := does("do", func(ctx context.Context, _ self, _ none) (none, error) {
			if runs++; runs == 1 {
				<-ctx.Done()
				return none{}, errors.New("a disguise of what happened")
			}
			return none{}, nil
		})
		host := func() *actors.Node {
			return c.open(actors.Config{Tracer: &tr}, actors.Host(Thing, actors.Settings{}, doing))
		}
		first := host()
		pass(time.Second)
		client := c.open(actors.Config{Tracer: &tr})
		pending := do.Go(c.on(client), Thing.Ref("x"), none{})
		pass(time.Second)
		c.crash(first)
		host()
		_, err := pending.Await(c.Context())
		c.ok(err)
		want := []string{"ask do > do: canceled", "ask do > do again: success", "ask do: success"}
		if got := tr.all(); !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	})
}

func TestATakeoverTellsOfItsPhasesAndALetterOfItsReason(t *testing.T) {
	inBubble(t, func(c *cluster) {
		do, doing := does("do", func(context.Context, self, none) (none, error) { return none{}, actors.Retry(errEmpty, 0) })
		ctx := c.things(doing)
		_, err := do.Call(ctx, Thing.Ref("x"), none{})
		c.is(err, actors.ErrPoison)
		pass(time.Second) // the answer goes out before the letter
		phases := make(map[backstay.Reason]int)
		for _, e := range c.heard.Events(backstay.TakeoverPhase) {
			if e.Policy == "thing" && strings.HasPrefix(e.Key, "thing/") {
				phases[e.Reason]++
			}
		}
		if phases[backstay.ReasonSnapshot] != 4 || phases[backstay.ReasonReplay] != 4 || phases[backstay.ReasonFence] != 4 {
			t.Errorf("the phases of four partitions: %v", phases)
		}
		letters := c.heard.Events(backstay.DeadLetter)
		if len(letters) != 1 || letters[0].Reason != backstay.ReasonPoison || letters[0].Operation != "do" {
			t.Errorf("told of %+v", letters)
		}
		if n := c.nodes[0].Inspect(ctx).DeadLetters; n != 1 {
			t.Errorf("the node tells of %d", n)
		}
	})
}

func TestDepthsTellWhatWaits(t *testing.T) {
	inBubble(t, func(c *cluster) {
		do, doing := does("do", func(context.Context, self, none) (none, error) { time.Sleep(time.Minute); return none{}, nil })
		ctx := c.things(doing)
		for range 3 {
			c.ok(do.Tell(ctx, Thing.Ref("x"), none{}))
		}
		pass(10 * time.Second)
		n := c.nodes[0]
		total, oldest := 0, time.Duration(0)
		for i, d := range n.Depths(ctx) {
			if d.Type != "thing" || int(d.Index) != i || d.Outputs != 0 {
				t.Errorf("%+v", d)
			}
			total += d.Requests
			oldest = max(oldest, d.Oldest)
		}
		if total != 3 || oldest != 10*time.Second {
			t.Errorf("%d requests, the oldest %v old", total, oldest)
		}
		pass(5 * time.Minute)
		c.ok(n.Stop(c.Context()))
		if d := n.Depths(ctx); len(d) != 0 {
			t.Errorf("after Stop: %+v", d)
		}
	})
}
