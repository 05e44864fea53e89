package actors_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
)

// owners are what is needed to know which node runs an actor.
var (
	Where = actors.Declare[none, string](Thing, "where")
	Count = actors.Declare[time.Duration, int](Thing, "count")
	Ask   = actors.Declare[string, string](Thing, "ask")
	count = actors.NewValue[int](Thing, "count")
)

func hostCounting(node string) actors.Hosting {
	return actors.Host(Thing, actors.Settings{},
		actors.Handle(Where, func(context.Context, self, none) (string, error) { return node, nil }),
		actors.Handle(Count, func(ctx context.Context, self self, takes time.Duration) (int, error) {
			n, err := count.Get(ctx, self)
			if err != nil {
				return 0, err
			}
			select {
			case <-time.After(takes):
			case <-ctx.Done():
				return 0, ctx.Err()
			}
			return n + 1, count.Set(self, n+1)
		}),
		actors.Handle(Ask, func(ctx context.Context, _ self, id string) (string, error) {
			there, err := Where.Call(ctx, Thing.Ref(id), none{})
			return node + " asks " + there, err
		}),
	)
}

// runs returns ids of actors that run on each of two nodes.
func runs(ctx context.Context, c *cluster) (onA, onB string) {
	c.Helper()
	for i := range 100 {
		id := fmt.Sprint(i)
		node, err := Where.Call(ctx, Thing.Ref(id), none{})
		c.ok(err)
		if node == "a" {
			onA = id
		} else {
			onB = id
		}
		if onA != "" && onB != "" {
			return onA, onB
		}
	}
	c.Fatal("the actors are not shared out")
	return "", ""
}

func TestNodesThatShareALogShareTheActors(t *testing.T) {
	inBubble(t, func(c *cluster) {
		a, b := c.open(actors.Config{Name: "a"}, hostCounting("a")), c.open(actors.Config{Name: "b"}, hostCounting("b"))
		synctest.Wait()
		onA, onB := runs(c.on(a), c)
		for _, n := range []*actors.Node{a, b} {
			got, err := Ask.Call(c.on(n), Thing.Ref(onA), onB)
			equal(c, got, err, "a asks b")
			got, err = Ask.Call(c.on(n), Thing.Ref(onB), onA)
			equal(c, got, err, "b asks a")
		}
	})
}

func TestANodeThatStopsHandsItsActorsOver(t *testing.T) {
	inBubble(t, func(c *cluster) {
		a, b := c.open(actors.Config{}, hostCounting("a")), c.open(actors.Config{}, hostCounting("b"))
		synctest.Wait()
		onA, _ := runs(c.on(b), c)
		running := Count.Go(c.on(b), Thing.Ref(onA), 5*time.Second)
		synctest.Wait()
		queued := Count.Go(c.on(b), Thing.Ref(onA), 0)
		pass(time.Second)
		began := time.Now()
		c.ok(a.Stop(c.Context()))
		if took := time.Since(began).Round(time.Second); took != 4*time.Second {
			t.Errorf("stopping took %v: want the time that the method needs to end, and no more", took)
		}
		n, err := running.Await(c.Context())
		equal(c, n, err, 1)
		n, err = queued.Await(c.Context())
		equal(c, n, err, 2)
		node, err := Where.Call(c.on(b), Thing.Ref(onA), none{})
		equal(c, node, err, "b")
	})
}

func TestWhatACrashCutsShortRunsAgainElsewhere(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var tokens []uint64
		kept := actors.NewValue[int](Thing, "kept")
		step := actors.Declare[none, int](Thing, "step")
		host := func() actors.Hosting {
			var volatile int
			return actors.Host(Thing, actors.Settings{}, actors.Handle(step, func(ctx context.Context, self self, _ none) (int, error) {
				n, err := kept.Get(ctx, self)
				if err != nil {
					return 0, err
				}
				volatile++
				tokens = append(tokens, self.FencingToken())
				if err := kept.Set(self, n+1); err != nil {
					return 0, err
				}
				if len(tokens) == 2 {
					<-ctx.Done() // until the crash
					return 0, ctx.Err()
				}
				return 100*volatile + n + 1, nil
			}))
		}
		client := c.open(actors.Config{})
		a := c.open(actors.Config{}, host())
		n, err := step.Call(c.on(client), Thing.Ref("x"), none{})
		equal(c, n, err, 101)
		cut := step.Go(c.on(client), Thing.Ref("x"), none{})
		pass(time.Second)
		c.crash(a)
		c.open(actors.Config{}, host())
		n, err = cut.Await(c.Context())
		equal(c, n, err, 102) // state is there, what was in memory is not
		if len(tokens) != 3 || tokens[0] != tokens[1] || tokens[2] <= tokens[1] {
			t.Errorf("fencing tokens %v", tokens)
		}
	})
}

func TestANodeWithoutTypesCallsOnly(t *testing.T) {
	inBubble(t, func(c *cluster) {
		client := c.open(actors.Config{})
		early := Where.Go(c.on(client), Thing.Ref("x"), none{}) // waits for a host
		short, cancel := context.WithTimeout(c.on(client), time.Second)
		defer cancel()
		_, err := Where.Call(short, Thing.Ref("x"), none{})
		c.is(err, actors.ErrUnanswered)
		c.is(err, context.DeadlineExceeded)
		if i := client.Inspect(c.Context()); len(i.Partitions) != 0 || i.Calls != 1 {
			t.Errorf("%+v", i)
		}
		c.open(actors.Config{}, hostCounting("a"))
		got, err := early.Await(c.Context())
		equal(c, got, err, "a")
	})
}

// Acceptance case A61.
func TestA61_RequestsOfATypeWhoseLastHostIsGoneStayAndNobodyResendsThem(t *testing.T) {
	inBubble(t, func(c *cluster) {
		client := c.open(actors.Config{})
		a := c.open(actors.Config{}, hostCounting("a"))
		n, err := Count.Call(c.on(client), Thing.Ref("x"), 0)
		equal(c, n, err, 1)
		c.ok(Count.Tell(c.on(client), Thing.Ref("x"), 10*time.Second))
		c.ok(Count.Tell(c.on(client), Thing.Ref("x"), 0))
		pass(time.Second)
		c.crash(a)
		size := func() (all int) {
			for i := range uint32(4) {
				all += len(entries(c, i))
			}
			return all
		}
		before := size()
		pass(24 * time.Hour)
		if after := size(); after != before {
			t.Errorf("%d records more", after-before)
		}
		b := c.open(actors.Config{}, hostCounting("b"))
		n, err = Count.Call(c.on(b), Thing.Ref("x"), 0)
		equal(c, n, err, 4)
	})
}

func TestACallAfterStopIsRefused(t *testing.T) {
	inBubble(t, func(c *cluster) {
		ask := actors.DeclareQuery[none, none](Thing, "query")
		n := c.open(actors.Config{}, hostCounting("a"))
		ctx := c.on(n)
		_, err := Where.Call(ctx, Thing.Ref("x"), none{})
		c.ok(err)
		for range 2 {
			c.ok(n.Stop(c.Context()))
		}
		_, call := Where.Call(ctx, Thing.Ref("x"), none{})
		_, later := Where.Go(ctx, Thing.Ref("x"), none{}).Await(ctx)
		_, asked := ask.Call(ctx, Thing.Ref("x"), none{})
		for what, err := range map[string]error{"Call": call, "Go": later, "Query": asked, "Tell": Where.Tell(ctx, Thing.Ref("x"), none{})} {
			if !errors.Is(err, actors.ErrStopped) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

func TestStopEndsTheWaitsOfItsClients(t *testing.T) {
	inBubble(t, func(c *cluster) {
		client := c.open(actors.Config{})
		c.open(actors.Config{}, hostCounting("a"))
		waiting := Count.Go(c.on(client), Thing.Ref("x"), time.Hour)
		pass(time.Second)
		c.ok(client.Stop(c.Context()))
		_, err := waiting.Await(c.Context())
		c.is(err, actors.ErrStopped)
		if n := strings.Count(err.Error(), "thing/x.count"); n != 1 {
			t.Errorf("the error names the call %d times: %v", n, err)
		}
		pass(2 * time.Hour)
	})
}

// What a node gives up itself nobody has taken away, also where Stop was cut short.
func TestAStopIsNoLossOfPartitions(t *testing.T) {
	for name, stop := range map[string]func(c *cluster, n *actors.Node){
		"in time":   func(c *cluster, n *actors.Node) { c.ok(n.Stop(c.Context())) },
		"cut short": func(c *cluster, n *actors.Node) { c.crash(n) },
	} {
		inBubble(t, func(c *cluster) {
			n := c.open(actors.Config{}, hostCounting("a"))
			c.ok(Count.Tell(c.on(n), Thing.Ref("x"), time.Second))
			synctest.Wait()
			stop(c, n)
			told := c.heard.Events(backstay.PartitionLost)
			if len(told) != 4 {
				t.Errorf("%s: told %+v", name, told)
			}
			for _, e := range told {
				if e.Err != nil {
					t.Errorf("%s: %s was lost: %v", name, e.Key, e.Err)
				}
			}
		})
	}
}

func TestStopCutsShortWhatDoesNotEndInTime(t *testing.T) {
	inBubble(t, func(c *cluster) {
		stubborn, h := does("stubborn", func(context.Context, self, none) (none, error) {
			time.Sleep(time.Hour)
			return none{}, nil
		})
		n := c.open(actors.Config{}, actors.Host(Thing, actors.Settings{}, h))
		c.ok(stubborn.Tell(c.on(n), Thing.Ref("x"), none{}))
		pass(time.Second)
		short, cancel := context.WithTimeout(c.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		err := n.Stop(short)
		if err == nil || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "thing/x.stubborn") {
			t.Error(err)
		}
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("it took %v", took)
		}
		pass(time.Hour)
	})
}

func TestInspectAndHealthTellHowANodeIs(t *testing.T) {
	inBubble(t, func(c *cluster) {
		n := c.open(actors.Config{Name: "inn"}, hostCounting("a"))
		synctest.Wait()
		c.ok(n.Health())
		waiting := Count.Go(c.on(n), Thing.Ref("x"), 20*time.Second)
		synctest.Wait()
		c.ok(Where.Tell(c.on(n), Thing.Ref("x"), none{}))
		pass(10 * time.Second)
		i := n.Inspect(c.Context())
		if i.Name != "inn" || i.Stopped || i.Calls != 1 || len(i.Partitions) != 4 {
			t.Fatalf("%+v", i)
		}
		busy := 0
		for _, p := range i.Partitions {
			if p.Type != "thing" || p.Phase != "owning" || p.Epoch != 1 || p.Error != "" || p.Takeover.Assigned.IsZero() {
				t.Errorf("%+v", p)
			}
			if p.Requests == 0 {
				continue
			}
			busy++
			if p.Requests != 2 || p.Actors != 1 || p.Deepest != "x" || p.Depth != 2 || p.Oldest != 10*time.Second || len(p.Running) != 1 {
				t.Fatalf("%+v", p)
			}
			if r := p.Running[0]; r.ID != "x" || r.Method != "count" || r.Attempt != 1 || r.RequestID == "" || r.Since != 10*time.Second {
				t.Errorf("%+v", r)
			}
		}
		if busy != 1 {
			t.Errorf("%d partitions have requests", busy)
		}
		_, err := waiting.Await(c.Context())
		c.ok(err)
		c.ok(n.Stop(c.Context()))
		if i := n.Inspect(c.Context()); len(i.Partitions) != 0 || !i.Stopped {
			t.Errorf("after Stop: %+v", i)
		}
	})
}

func TestInspectTellsWhatAMethodWaitsFor(t *testing.T) {
	inBubble(t, func(c *cluster) {
		outer := actors.Declare[none, int](Thing, "outer")
		inner := actors.Declare[none, int](Thing, "inner")
		n := c.open(actors.Config{}, actors.Host(Thing, actors.Settings{},
			actors.Handle(outer, func(ctx context.Context, _ self, in none) (int, error) { return inner.Call(ctx, Thing.Ref("y"), in) }),
			actors.Handle(inner, func(context.Context, self, none) (int, error) { time.Sleep(time.Second); return 1, nil }),
		))
		waiting := outer.Go(c.on(n), Thing.Ref("x"), none{})
		pass(500 * time.Millisecond)
		var found []string
		for _, p := range n.Inspect(c.Context()).Partitions {
			for _, r := range p.Running {
				found = append(found, r.ID+"."+r.Method+" "+strings.Join(r.Waiting, ","))
			}
		}
		slices.Sort(found)
		if want := []string{"x.outer thing/y.inner", "y.inner "}; !slices.Equal(found, want) {
			t.Errorf("got %q", found)
		}
		_, err := waiting.Await(c.Context())
		c.ok(err)
	})
}

func TestANodeThatCannotOwnItsPartitionsSaysWhy(t *testing.T) {
	inBubble(t, func(c *cluster) {
		n, err := actors.Open(c.Context(), actors.Config{}, unreadable{c.log}, hostCounting("a"))
		c.ok(err)
		pass(time.Second)
		err = n.Health()
		c.is(err, errUnreadable)
		if strings.Count(err.Error(), "partition thing/") != 4 {
			t.Error(err)
		}
		for _, p := range n.Inspect(c.Context()).Partitions {
			if !strings.Contains(p.Error, errUnreadable.Error()) || p.Phase == "owning" {
				t.Errorf("%+v", p)
			}
		}
		c.ok(n.Stop(c.Context()))
	})
}

func TestPublishSendsWithTheStep(t *testing.T) {
	inBubble(t, func(c *cluster) {
		s := script(c)
		say := func(word string) actors.Message {
			return actors.Message{Topic: "news", Key: "k", Value: []byte(word), Headers: map[string]string{"b": "2", "a": "1"}}
		}
		c.is(s.on("x", func(_ context.Context, self self) error { return errors.Join(self.Publish(say("not")), errEmpty) }), errEmpty)
		c.ok(s.on("x", func(_ context.Context, self self) error {
			if err := self.Publish(actors.Message{}); err == nil {
				t.Error("a message without a topic")
			}
			return errors.Join(self.Publish(say("one")), self.Publish(say("two")))
		}))
		synctest.Wait()
		all := c.log.Messages("news")
		if len(all) != 2 || string(all[0].Value) != "one" || string(all[1].Value) != "two" || all[0].Key != "k" {
			t.Fatalf("got %v", all)
		}
		if h := all[0].Headers; len(h) < 2 || h[0].Name != "a" || string(h[1].Value) != "2" {
			t.Errorf("headers %v", h)
		}
	})
}

func TestAStrictBeginIsOneRecordMore(t *testing.T) {
	for strict, want := range map[bool]int{false: 2, true: 3} {
		inBubble(t, func(c *cluster) {
			m, h := does("m", func(context.Context, self, none) (none, error) { return none{}, nil })
			ctx := c.thingsWith(actors.Settings{StrictBegin: strict}, h)
			synctest.Wait()
			size := func() (all int) {
				for i := range uint32(4) {
					all += len(entries(c, i))
				}
				return all
			}
			before := size()
			_, err := m.Call(ctx, Thing.Ref("x"), none{}, actors.ExpireAfter(time.Minute))
			c.ok(err)
			if n := size() - before; n != want {
				t.Errorf("strict: %v, %d records, want %d", strict, n, want)
			}
		})
	}
}

func TestOrphansAreCancelledWhereTheSettingsSaySo(t *testing.T) {
	for cancel, want := range map[bool]int32{false: 2, true: 1} {
		inBubble(t, func(c *cluster) {
			var runs atomic.Int32
			busy := actors.Declare[none, none](Thing, "busy")
			inner := actors.Declare[none, none](Thing, "inner")
			outer := actors.Declare[none, none](Thing, "outer")
			host := actors.Host(Thing, actors.Settings{CancelOrphans: cancel},
				actors.Handle(busy, func(ctx context.Context, _ self, _ none) (none, error) {
					select {
					case <-time.After(10 * time.Second):
					case <-ctx.Done():
					}
					return none{}, ctx.Err()
				}),
				actors.Handle(inner, func(context.Context, self, none) (none, error) { runs.Add(1); return none{}, nil }),
				actors.Handle(outer, func(ctx context.Context, _ self, in none) (none, error) { return inner.Call(ctx, Thing.Ref("y"), in) }),
			)
			client, first := c.open(actors.Config{}), c.open(actors.Config{}, host)
			c.ok(busy.Tell(c.on(client), Thing.Ref("y"), none{}))
			asked := outer.Go(c.on(client), Thing.Ref("x"), none{})
			pass(time.Second)
			c.crash(first)
			c.open(actors.Config{}, host)
			_, err := asked.Await(c.Context())
			c.ok(err)
			if n := runs.Load(); n != want {
				t.Errorf("orphans are cancelled: %v, and the callee ran %d times, want %d", cancel, n, want)
			}
		})
	}
}
