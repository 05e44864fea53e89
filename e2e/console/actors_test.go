package console_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/inspect"
	"github.com/backstay-go/backstay/actors/memory"
	"github.com/backstay-go/backstay/middleware/console"
)

// node is one that says what it is told to.
type node func() inspect.Node

func (n node) Inspect(context.Context) inspect.Node { return n() }

// crowded is a node of three types, of which orders are in trouble.
func crowded() inspect.Node {
	took := inspect.Takeover{
		Assigned: time.Now().Add(-3 * time.Minute), Snapshot: 3 * time.Millisecond, Replay: 41 * time.Millisecond,
		Fence: 1200 * time.Microsecond, Records: 4120,
	}
	n := inspect.Node{Name: "orders-1", Members: []string{"orders-1", "orders-2"}, Calls: 5, DeadLetters: 2}
	for _, name := range []string{"account", "order", "shipment"} {
		for i := range uint32(16) {
			p := inspect.Partition{Type: name, Index: i, Phase: inspect.Owning, Epoch: 3, Next: 5000, Takeover: took}
			if i%3 == 0 {
				p.Requests, p.Actors, p.Depth, p.Deepest, p.Oldest = 4, 2, 3, fmt.Sprintf("%s-%d-with-a-rather-long-id", name, i), 180*time.Millisecond
				p.Methods = 1
				p.Running = []inspect.Invocation{{
					ID: fmt.Sprintf("%s-%d", name, i), Method: "place", RequestID: "5f2d", Attempt: 1 + uint64(i%2), Link: uint64(i % 4),
					Since: time.Duration(i) * 800 * time.Millisecond, Waiting: []string{"shipment/9931.reserve"},
				}}
			}
			n.Partitions = append(n.Partitions, p)
		}
	}
	orders := n.Partitions[16:32]
	orders[2] = inspect.Partition{Type: "order", Index: 2, Phase: inspect.Waiting, Error: "reading order/2: dial tcp 10.0.3.7:9092: connection refused"}
	orders[5].Phase = inspect.Claiming
	orders[9].Oldest, orders[9].Requests, orders[9].Depth, orders[9].Outputs = 95*time.Second, 310, 290, 17
	return n
}

// crowdedPage shows it, beside the trouble of a pipeline and what was notable.
func crowdedPage(t *testing.T) (*world, *tab) {
	t.Helper()
	w, b := troubled(t)
	if err := w.console.AddActors("orders", node(crowded)); err != nil {
		t.Fatal(err)
	}
	observer := w.console.Observer()
	observer.Observe(t.Context(), backstay.Event{Kind: backstay.RequestGivenUp, Policy: "order", Key: "order/9", Reason: backstay.ReasonPoison})
	observer.Observe(t.Context(), backstay.Event{Kind: backstay.PartitionLost, Policy: "order", Key: "order/2", Err: errDown})
	b.wait(`document.querySelectorAll("#actors-rows tr").length === 3`)
	return w, b
}

func TestActorsAreOnThePageWhatNeedsALookFirst(t *testing.T) {
	w, b := crowdedPage(t)
	for selector, want := range map[string]string{
		"#verdict":                      "1 of 5 pipelines needs a look. 3 of 48 partitions need a look.",
		"#actors-rows tr .who b":        "order",
		"#actors-rows tr .word":         "1 not owned",
		"#actors-rows tr .deepest":      "order-9-with-a-rather-long-id290 requests",
		"#actors-rows tr .takeover":     "45 mssnapshot 3 ms, replay 41 ms of 4,120 records, fence 1.2 ms",
		"#actors-running li code":       "account/account-15.place",
		"#actors-troubled li code":      "order/2",
		"#actors-troubled li .error":    "reading order/2: dial tcp 10.0.3.7:9092: connection refused",
		"#actors-nodes":                 "orders is orders-1, beside orders-2.",
		"#actors-totals div dd":         "46 of 48",
		"#actors-totals div:last-child": "dead letters2",
	} {
		if got := eval[string](b, fmt.Sprintf(`document.querySelector(%q)?.textContent ?? "nothing"`, selector)); got != want {
			t.Errorf("%s reads %q, want %q", selector, got, want)
		}
	}
	if got := eval[string](b, `document.querySelector("#actors-rows svg").ariaLabel`); !strings.Contains(got, "1 not owned") || !strings.Contains(got, "1 overdue") {
		t.Errorf("the marks say %q", got)
	}
	if got := eval[string](b, `document.querySelector("#notices").textContent`); !strings.Contains(got, "partition lost") || !strings.Contains(got, "request given up · poison") {
		t.Errorf("what was notable: %q", got)
	}
	w.console.Remove("orders")
	b.wait(`document.querySelector("#actors").hidden`)
}

func TestActorsFitIntoEveryWindowAndStandOutInLightAndInDark(t *testing.T) {
	_, b := crowdedPage(t)
	url := eval[string](b, `location.href`)
	folder := os.Getenv("ACTORS_SCREENSHOTS") // to look at
	for _, width := range []int64{320, 700, 1100, 1600} {
		for _, scheme := range []string{"light", "dark"} {
			b.open(url, width, 1600, scheme)
			b.wait(`document.querySelectorAll("#actors-rows tr").length === 3`)
			if got := eval[int64](b, `document.documentElement.scrollWidth`); got > width {
				t.Errorf("the page is %d wide in a window of %d", got, width)
			}
			b.standsOut(scheme)
			if folder != "" {
				b.save(filepath.Join(folder, fmt.Sprintf("actors-%d-%s.png", width, scheme)))
			}
		}
	}
}

// A real node, from its first call to its end.
func TestThePageFollowsANodeOfActors(t *testing.T) {
	type thing struct{}
	things := actors.NewType[thing]("thing")
	hold := actors.Declare[bool, bool](things, "hold")
	let := make(chan bool)
	w := newWorld(t, console.Config{})
	node, err := actors.Open(t.Context(), actors.Config{Name: "workshop", Observer: w.console.Observer()}, memory.New(memory.WithPartitions(4)),
		actors.Host(things, actors.Settings{}, actors.Handle(hold, func(_ context.Context, _ actors.Self[thing], in bool) (bool, error) { return <-let, nil })))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.console.AddActors("work", node); err != nil {
		t.Fatal(err)
	}
	b := browse(t)
	b.open(w.url, 1280, 900, "light")
	b.wait(`document.querySelector("#verdict").textContent === "All 4 partitions are well."`)
	pending := hold.Go(node.Context(t.Context()), things.Ref("<b>one</b>"), true)
	b.wait(`document.querySelector("#actors-running code")?.textContent === "thing/<b>one</b>.hold"`)
	let <- true
	if _, err := pending.Await(t.Context()); err != nil {
		t.Error(err)
	}
	b.wait(`document.querySelector("#actors-running").textContent === "Nothing runs."`)
	if err := node.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	b.wait(`document.querySelector("#actors-totals dd").textContent === "0 of 0"`)
}
