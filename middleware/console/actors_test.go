package console_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/inspect"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/console"
)

// node is a node of actors that says what it is told to.
type node func(context.Context) inspect.Node

func (n node) Inspect(ctx context.Context) inspect.Node { return n(ctx) }

// fixed is a node with these partitions.
func fixed(partitions ...inspect.Partition) node {
	return func(context.Context) inspect.Node { return inspect.Node{Name: "self", Partitions: partitions} }
}

func showing(t *testing.T, n console.ActorSource) *console.Actors {
	t.Helper()
	c := made(t, console.Config{})
	if err := c.AddActors("orders", n); err != nil {
		t.Fatal(err)
	}
	a := state(t, c, "").Actors
	if a == nil {
		t.Fatal("there are no actors")
	}
	return a
}

func TestAPartitionHasALevel(t *testing.T) {
	for _, row := range []struct {
		name  string
		p     inspect.Partition
		level string
	}{
		{"nothing waits", inspect.Partition{Phase: inspect.Owning}, "idle"},
		{"something waits", inspect.Partition{Phase: inspect.Owning, Requests: 1, Oldest: 29 * time.Second}, "well"},
		{"something is to be forwarded", inspect.Partition{Phase: inspect.Owning, Outputs: 1}, "well"},
		{"something waits for too long", inspect.Partition{Phase: inspect.Owning, Requests: 1, Oldest: 30 * time.Second}, "strained"},
		{"it is claimed", inspect.Partition{Phase: inspect.Claiming}, "recovering"},
		{"it is handed over", inspect.Partition{Phase: inspect.Draining, Requests: 1, Oldest: time.Hour}, "recovering"},
		{"it could not be claimed", inspect.Partition{Phase: inspect.Waiting, Error: "no"}, "down"},
		{"it must not be owned", inspect.Partition{Phase: inspect.Refused, Error: "no"}, "down"},
		{"a phase that nobody knows", inspect.Partition{Phase: "dreaming"}, "recovering"},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.p.Type = "order"
			a := showing(t, fixed(row.p))
			if got := a.Types[0].Level; got != row.level || a.Types[0].Levels[0] != row.level {
				t.Errorf("it is %s, %v", got, a.Types[0].Levels)
			}
			needs := row.level == "down" || row.level == "recovering" || row.level == "strained"
			if (a.NeedLook == 1) != needs || (len(a.Trouble) == 1) != needs {
				t.Errorf("need a look: %d, %+v", a.NeedLook, a.Trouble)
			}
		})
	}
}

func TestPartitionsAreSummedUpByType(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	a := showing(t, fixed(
		inspect.Partition{Type: "account", Phase: inspect.Owning, Requests: 2, Actors: 1, Depth: 2, Deepest: "alice", Oldest: time.Second, Methods: 1, Outputs: 3, Instances: 4,
			Takeover: inspect.Takeover{Assigned: at, Snapshot: time.Millisecond, Replay: 2 * time.Millisecond, Fence: 3 * time.Millisecond, Records: 9}},
		inspect.Partition{Type: "account", Index: 1, Phase: inspect.Owning, Requests: 5, Actors: 2, Depth: 4, Deepest: "bob", Oldest: 3 * time.Second, Methods: 2,
			Takeover: inspect.Takeover{Assigned: at, Fence: time.Millisecond}},
		inspect.Partition{Type: "order", Phase: inspect.Waiting, Error: "down"},
	))
	if a.Partitions != 3 || a.Owned != 2 || a.Requests != 7 || a.Methods != 3 || a.Outputs != 3 || a.Oldest != 3000 {
		t.Errorf("in all: %+v", a)
	}
	if len(a.Types) != 2 || a.Types[0].Type != "order" || a.Types[0].Takeover != nil {
		t.Fatalf("what needs a look comes first: %+v", a.Types)
	}
	got := a.Types[1]
	if got.Owned != 2 || got.Count != 2 || got.Requests != 7 || got.Actors != 3 || got.Deepest != "bob" || got.Depth != 4 || got.Oldest != 3000 || got.Instances != 4 {
		t.Errorf("accounts: %+v", got)
	}
	if want := (console.Takeover{At: at.UnixMilli(), Whole: 6, Snapshot: 1, Replay: 2, Fence: 3, Records: 9}); got.Takeover == nil || *got.Takeover != want {
		t.Errorf("the slowest takeover: %+v", got.Takeover)
	}
}

// However much there is, what every watcher gets each second is bounded.
func TestWhatIsToldOfActorsIsBounded(t *testing.T) {
	long := strings.Repeat("long ", 100) + "\xff"
	crowd := func(context.Context) inspect.Node {
		n := inspect.Node{Name: long}
		for i := range 20 {
			n.Members = append(n.Members, long)
			for j := range uint32(300) {
				p := inspect.Partition{Type: fmt.Sprint(i, long), Index: j, Phase: inspect.Waiting, Error: long, Depth: 1, Deepest: long, Methods: 1000}
				for k := range 5 {
					p.Running = append(p.Running, inspect.Invocation{ID: long, Method: long, Since: time.Duration(k), Waiting: []string{long, long, long, long, long, long}})
				}
				n.Partitions = append(n.Partitions, p)
			}
		}
		return n
	}
	c := made(t, console.Config{PageSize: 10})
	if err := c.AddActors(long, node(crowd)); err != nil {
		t.Fatal(err)
	}
	if size := get(c, "/state.json").Body.Len(); size > 100_000 {
		t.Errorf("%d bytes", size)
	}
	a := state(t, c, "").Actors
	if len(a.Types) != 10 || a.TypesLeft == 0 || len(a.Types[0].Levels) > 256 || len(a.Running) != 12 || len(a.Trouble) != 12 || a.Methods != 6_000_000 {
		t.Errorf("%d types and %d, %d levels, %d methods of %d, %d in trouble", len(a.Types), a.TypesLeft, len(a.Types[0].Levels), len(a.Running), a.Methods, len(a.Trouble))
	}
	if r := a.Running[0]; len(r.Waits) != 4 || r.Left != 2 || len(r.Actor) > 200 || r.For == 0 && r.Method == "" {
		t.Errorf("%+v", r)
	}
}

func TestNodesHaveNamesOfTheirOwn(t *testing.T) {
	c := made(t, console.Config{})
	if s := state(t, c, ""); s.Actors != nil {
		t.Errorf("without a node there are %+v", s.Actors)
	}
	shown(t, c, middleware.Target{Name: "payments"})
	if err := c.AddActors("payments", fixed()); err == nil {
		t.Error("the name of a registry was given to a node")
	}
	if err := c.AddActors("none", nil); err == nil {
		t.Error("no node was added")
	}
	for i := range 2 {
		if err := c.AddActors("orders", fixed()); (err != nil) != (i > 0) {
			t.Errorf("time %d: %v", i+1, err)
		}
	}
	if a := state(t, c, "").Actors; a == nil || len(a.Nodes) != 1 || a.Nodes[0].Name != "orders" || a.Nodes[0].Self != "self" {
		t.Errorf("got %+v", a)
	}
	if !c.Remove("orders") || c.Remove("orders") || state(t, c, "").Actors != nil {
		t.Error("it cannot be taken away once")
	}
}

func TestAllWhoWatchShareALookAtTheActors(t *testing.T) {
	var looks atomic.Int32
	c := made(t, console.Config{Interval: time.Minute})
	if err := c.AddActors("orders", node(func(context.Context) inspect.Node { looks.Add(1); return inspect.Node{} })); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		state(t, c, "")
	}
	if n := looks.Load(); n != 1 {
		t.Errorf("%d looks", n)
	}
}

func TestANodeThatIsBusyHoldsThePageUpForHalfASecond(t *testing.T) {
	start := time.Now()
	a := showing(t, node(func(ctx context.Context) inspect.Node {
		<-ctx.Done()
		return inspect.Node{Name: "busy"}
	}))
	if took := time.Since(start); took > 5*time.Second || a.Nodes[0].Self != "busy" {
		t.Errorf("after %v: %+v", took, a)
	}
}

func TestADrainedNodeIsShownAsOne(t *testing.T) {
	drained := node(func(context.Context) inspect.Node { return inspect.Node{Name: "self", Stopped: true} })
	c := made(t, console.Config{})
	if err := c.AddActors("orders", drained); err != nil {
		t.Fatal(err)
	}
	for i := range 3 { // handed over
		c.Observer().Observe(t.Context(), backstay.Event{Kind: backstay.PartitionLost, Policy: "order", Key: fmt.Sprintf("order/%d", i)})
	}
	s := state(t, c, "")
	if len(s.Notices) != 0 || !s.Actors.Nodes[0].Stopped || s.Actors.NeedLook != 0 {
		t.Errorf("%+v, %+v", s.Notices, s.Actors)
	}
}

func TestWhatHappensToActorsIsNotableOnce(t *testing.T) {
	c := made(t, console.Config{})
	for kind, notable := range map[backstay.Kind]bool{
		backstay.RequestGivenUp: true, backstay.PartitionLost: true, backstay.OutputLost: true,
		backstay.DeadLetter: false, backstay.TakeoverPhase: false, backstay.PartitionOwned: false, backstay.StepDone: false, backstay.StepFailed: false,
	} {
		c.Observer().Observe(t.Context(), backstay.Event{Kind: kind, Policy: string(kind), Key: "order/1", Err: errors.New("down")})
		found := false
		for _, n := range state(t, c, "").Notices {
			found = found || n.Kind == string(kind)
		}
		if found != notable {
			t.Errorf("%s: told %v, want %v", kind, found, notable)
		}
	}
}
