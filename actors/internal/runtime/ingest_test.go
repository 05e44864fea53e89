package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	stdruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/memory"
)

// register writes down in its actor what it was told, once a step.
func register(ctx context.Context, a *runtime.Attempt) runtime.End {
	set(a, args(a), count(ctx, a, args(a))+1)
	return value("")
}

// registered are the words that an actor was told, with how often.
func registered(ctx context.Context, a *runtime.Attempt) runtime.End {
	all, _ := a.Cells(ctx, "")
	words := make([]string, len(all))
	for i, c := range all {
		words[i] = c.Name + "=" + string(c.Value)
	}
	return value(strings.Join(words, " "))
}

// orders is a type that ingests a topic: the key is the actor, the value what it
// is told. Some values are something else.
func orders(change func(g *runtime.Ingest)) runtime.Type {
	t := hosting(map[string]run{"register": register, "registered": registered})
	g := runtime.Ingest{Topic: "orders", Map: func(_ journal.Source, m *journal.Sourced) (*record.Call, error) {
		switch string(m.Value) {
		case "ignore":
			return nil, nil
		case "broken":
			return nil, errors.New("it is broken")
		case "panic":
			panic("ouch")
		case "goexit":
			stdruntime.Goexit()
		}
		return &record.Call{Target: actor("t", m.Key), Method: "register", Args: m.Value}, nil
	}}
	if change != nil {
		change(&g)
	}
	t.Ingests = []runtime.Ingest{g}
	return t
}

// publish adds a message to the topic.
func (c *cluster) publish(key, value string) {
	c.Helper()
	c.log.Publish(journal.Message{Topic: "orders", Key: key, Value: []byte(value), Headers: []journal.Header{{Name: "shop", Value: []byte("7")}}}, func(_ journal.Place, err error) {
		if err != nil {
			c.Error(err)
		}
	})
}

func (c *cluster) letters() []journal.Message { return c.log.(*memory.Log).Messages("dead") }

// sourced is a log of faults that has topics.
type sourced struct {
	journal.Log
	journal.Sources
}

// ingesting starts a node on a log of faults.
func (c *cluster) ingesting(on journal.Log, types ...runtime.Type) *runtime.Node {
	c.Helper()
	n, err := runtime.Open(c.Context(), sourced{on, c.log.(journal.Sources)}, runtime.Config{DeadTopic: "dead", Patience: 2 * time.Second, Types: types})
	if err != nil {
		c.Fatal(err)
	}
	return n
}

func TestMessagesOfATopicAreToldInOrderFromItsBeginningOrItsEnd(t *testing.T) {
	for _, fromEnd := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, 3)
			defer c.stop()
			host := orders(func(g *runtime.Ingest) { g.FromEnd = fromEnd })
			c.publish("a", "old")
			first := c.open(host)
			time.Sleep(time.Second)
			stopNow(t, first) // at the position that it began with
			c.publish("a", "new")
			c.publish("b", "ignore")
			n := c.open(host)
			time.Sleep(time.Second)
			want := "new=1 old=1"
			if fromEnd {
				want = "new=1"
			}
			if got := c.call(n, "a", "registered", ""); got != want {
				t.Errorf("from the end %v: %q, want %q", fromEnd, got, want)
			}
			if got := c.call(n, "b", "registered", ""); got != "" {
				t.Errorf("what was to be left out is %q", got)
			}
		})
	}
}

// An empty topic is begun at its end, too: what comes before the next owner is
// not older than the first.
func TestAnEmptyTopicIsBegunAtItsEndOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		host := orders(func(g *runtime.Ingest) { g.FromEnd = true })
		first := c.open(host)
		time.Sleep(time.Second)
		stopNow(t, first)
		c.publish("a", "x")
		n := c.open(host)
		time.Sleep(time.Second)
		if got := c.call(n, "a", "registered", ""); got != "x=1" {
			t.Errorf("%q", got)
		}
	})
}

func TestAMessageThatIsNoRequestIsADeadLetterAndHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		defer c.stop()
		n := c.open(orders(nil))
		for _, v := range []string{"1", "broken", "panic", "goexit", strings.Repeat("x", 1<<20), "2"} {
			c.publish("a", v)
		}
		c.publish("", "nobody's")
		time.Sleep(5 * time.Second)
		if got := c.call(n, "a", "registered", ""); got != "1=1 2=1" {
			t.Errorf("%.50q", got)
		}
		var got []string
		for _, m := range c.letters() {
			h := make(map[string]string)
			for _, x := range m.Headers {
				h[x.Name] = string(x.Value)
			}
			if h[runtime.HeaderReason] != "not_ingested" || h[runtime.HeaderNumber] == "" || h[runtime.HeaderGivenUp] == "" || len(m.Value) > 0 && h["shop"] != "7" {
				t.Errorf("headers %v", h)
			}
			got = append(got, fmt.Sprintf("%s %s %s: %s", h[runtime.HeaderOrigin], m.Key, m.Value, h[runtime.HeaderDetail]))
		}
		want := []string{
			"orders/0/1 a broken: it is broken",
			"orders/0/2 a panic: panicked: ouch",
			"orders/0/3 a goexit: the function ended its goroutine",
			"orders/0/4  : its tell has 1048841 bytes, more than 921600; the message of 1048577 bytes is too large for a letter",
			"orders/0/6  nobody's: its tell names no actor or no method",
		}
		for i := range want {
			if i >= len(got) || !strings.HasPrefix(got[i], strings.Split(want[i], ": its tell has")[0]) {
				t.Errorf("letters %.300q, want %q", got, want)
				break
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d letters", len(got))
		}
		for _, fault := range []string{"panicked: ouch", "the function ended its goroutine"} {
			if !c.heardOf(runtime.HookPanicked, fault) {
				t.Errorf("nothing is heard of %q", fault)
			}
		}
	})
}

// Messages wait in their topic for as long as requests of others do in the
// mailboxes: none is refused.
func TestAFullMailboxHoldsUpATopicAndRefusesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		most, running := 0, make(chan struct{})
		host := orders(nil)
		host.Mailbox = 10
		host.Methods["register"] = runtime.Method{Run: func(ctx context.Context, a *runtime.Attempt) runtime.End {
			<-running
			return register(ctx, a)
		}}
		n := c.open(host)
		for i := range 300 {
			c.publish("a", fmt.Sprintf("%03d", i))
		}
		time.Sleep(time.Minute)
		for _, p := range n.Inspect(t.Context()).Partitions {
			most = max(most, p.Requests)
		}
		if most == 0 || most > 10 {
			t.Errorf("%d requests in a mailbox of 10", most)
		}
		close(running)
		time.Sleep(time.Minute)
		if got := strings.Fields(c.call(n, "a", "registered", "")); len(got) != 300 || len(c.letters()) != 0 {
			t.Errorf("%d were registered, %d dead letters", len(got), len(c.letters()))
		}
	})
}

// Owners are put out without being told, and what they append is lost, doubled,
// or comes late: every message is told once (P11).
func TestEachMessageIsToldOnceHoweverOwnersChange(t *testing.T) {
	for seed := range uint64(4) {
		synctest.Test(t, func(t *testing.T) {
			const messages, actors = 400, 7
			c := newCluster(t, 3)
			defer c.stop()
			random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // to be repeatable
			u := &unruly{Log: c.log, random: random}
			host := orders(nil)
			host.MaxAttempts = 1000
			var links []*link
			var nodes []*runtime.Node
			start := func() {
				l := &link{Log: u}
				links, nodes = append(links, l), append(nodes, c.ingesting(l, host))
			}
			start()
			var producer sync.WaitGroup
			producer.Go(func() {
				for i := range messages {
					c.publish(fmt.Sprint("actor ", i%actors), fmt.Sprintf("%03d", i))
					time.Sleep(time.Duration(i%17) * time.Millisecond)
				}
			})
			for i := range 6 {
				start()
				time.Sleep(500 * time.Millisecond)
				if i%2 == 0 {
					links[i].crash()
				} else {
					links[i].evict() // a zombie
				}
			}
			producer.Wait()
			u.settle()
			for _, n := range nodes {
				kill(n)
			}
			client := c.open(host)
			time.Sleep(20 * time.Second)
			var got, want []string
			for i := range actors {
				got = append(got, strings.Fields(c.call(client, fmt.Sprint("actor ", i), "registered", ""))...)
			}
			for i := range messages {
				want = append(want, fmt.Sprintf("%03d=1", i))
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("seed %d: %d words, %q", seed, len(got), got)
			}
			u.late.Wait()
		})
	}
}

func TestATopicThatWasCutOffOrMadeAnewIsToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		c.publish("a", "1")
		first := c.open(orders(nil))
		time.Sleep(time.Second)
		stopNow(t, first)
		for range 2100 { // more than a topic keeps without readers
			c.publish("a", "2")
		}
		n := c.open(orders(nil))
		time.Sleep(time.Minute)
		if got := c.call(n, "a", "registered", ""); !strings.HasPrefix(got, "1=1 2=") || got == "1=1 2=2100" {
			t.Errorf("%q", got)
		}
		if !c.heardOf(runtime.OutputLost, "were deleted before they were ingested") {
			t.Error("nobody was told")
		}
	})
}

func (c *cluster) heardOf(kind runtime.EventKind, text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.heard, func(e runtime.Event) bool {
		return e.Kind == kind && e.Err != nil && strings.Contains(e.Err.Error(), text)
	})
}

func TestWhatCannotBeIngestedIsRefused(t *testing.T) {
	c := newCluster(t, 1)
	defer c.stop()
	twice := orders(nil)
	twice.Ingests = append(twice.Ingests, twice.Ingests[0])
	for what, t := range map[string]runtime.Type{
		"twice": twice, "no function": orders(func(g *runtime.Ingest) { g.Map = nil }), "no topic": orders(func(g *runtime.Ingest) { g.Topic = "" }),
	} {
		if _, err := runtime.Open(c.Context(), c.log, runtime.Config{Types: []runtime.Type{t}}); err == nil {
			c.Errorf("%s is taken", what)
		}
	}
	if _, err := runtime.Open(c.Context(), &link{Log: c.log}, runtime.Config{Types: []runtime.Type{orders(nil)}}); err == nil {
		t.Error("a log without topics is taken")
	}
}

// stopNow hands over what a node has.
func stopNow(t *testing.T, n *runtime.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		t.Error(err)
	}
}
