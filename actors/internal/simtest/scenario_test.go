package simtest_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/internal/simtest"
	"github.com/backstay-go/backstay/internal/testkit"
)

// The scenarios that random walks find late or never, each staged on purpose.
// A test is named after its number: S4 is TestS4_ and what follows.
//
//	S1  a client's resend: the chain is away, has ended, all is quiet, at its
//	    until, across a restart                        here; the explorer of package machine
//	S2  a copy of every kind of an owner's records     here; Undeliverable: package machine, TestS2_; Ingest:
//	                                                   TestMessagesAreToldOnce
//	S3  sends that fail, are turned round, or come     here
//	    twice, in a run to one partition
//	S4  a crash at every point of a nested call        here, of three levels
//	S5  what an owner does that was replaced           here
//	S6  claims beside one another                      here; package runtime, TestA49_
//	S7  calls back into an actor that waits            here; package runtime, TestA12_ to TestA17_
//	S8  parallel calls                                 here; package runtime, TestA15_, TestA16_
//	S9  tail calls to others                           here; 10,000 to itself: package runtime, TestA27_
//	S10 what expires and is cancelled                  here; package machine, TestS10_
//	S11 snapshots                                      here; their fields: package machine, TestS11_
//	S12 circles that wait                              package runtime, TestA75_, three of them
//	S13 order                                          here
//	S14 what cannot be delivered or is unknown         here; package runtime, TestA3_ and
//	                                                   TestAnotherNumberOfPartitionsOrWindowRefusesToOwn
//	S15 clocks that jump                               here
//
// The judge recomputes every property after every record of each of them.
type scenario struct {
	hosts    []string // as of world
	settings runtime.Settings
	config   runtime.Config
	stored   bool
	seed     uint64
	faults   []simtest.Fault
	roots    []root
	orders   int  // messages of the topic, one every 10 ms
	spare    bool // not all of the faults need strike
	trusts   bool // the membership cannot be asked
}

// root is what a client asks for at a time.
type root struct {
	at     time.Duration
	to     string
	script []op
}

// theClient is the number of the client, for faults.
const theClient = 9

// run plays the scenario until all is quiet. It fails if anything went wrong, or
// nothing did that was to.
func (s *scenario) run(t *testing.T) (w *world) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w = s.world(t)
		for i, r := range s.roots {
			go w.ask(r.at, runtime.ClientCall{Target: address(r.to), Method: "do", Args: (&op{Script: r.script}).args(), Key: strconv.Itoa(i)})
		}
		for n := range s.orders {
			time.Sleep(10 * time.Millisecond)
			w.order(n)
		}
		time.Sleep(2 * time.Second)
		if n := len(s.roots); n > 0 {
			time.Sleep(s.roots[n-1].at)
		}
		w.settle("at the end")
		w.heard()
		for _, err := range w.fleet.Stop() {
			w.fail("%v", err)
		}
		_ = w.client.Stop(context.Background()) // a client has nothing to hand over
		w.cluster.Close()
		struck := len(w.cluster.Happened())
		if bad := w.bad(); len(bad) > 0 || struck < len(s.faults) && !s.spare {
			t.Errorf("of the faults %s %d struck:\n%s", simtest.Faults(s.faults), struck, strings.Join(bad, "\n"))
		}
	})
	return w
}

// world starts the processes and the client.
func (s *scenario) world(t *testing.T) *world {
	t.Helper()
	w := &world{judge: simtest.NewJudge(), setting: s.settings, config: s.config, stored: s.stored, hosts: s.hosts}
	w.config.DeadTopic = "dead"
	w.cluster = simtest.New(simtest.Options{Seed: s.seed + 1, Partitions: 1, Faults: append([]simtest.Fault(nil), s.faults...), Judge: w.judge, Credulous: s.trusts})
	w.fleet = simtest.NewFleet(w.cluster, w.start)
	w.shop = w.cluster.Log("shop", -1)
	for p := range max(len(s.hosts), 1) {
		if err := w.fleet.Launch(p); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if w.client, err = runtime.Open(context.Background(), w.cluster.Log("client", theClient), runtime.Config{Window: s.config.Window}); err != nil {
		t.Fatal(err)
	}
	return w
}

// with is the scenario under other faults.
func (s *scenario) with(faults ...simtest.Fault) *scenario {
	other := *s
	other.faults = faults
	return &other
}

// everywhere plays the scenario without a fault, and then with one for each
// append of each of its processes: it dies before it, or right after it.
func (s *scenario) everywhere(t *testing.T, check func(w *world) string) {
	t.Helper()
	play := func(faults ...simtest.Fault) (struck bool) {
		w := s.with(faults...)
		w.spare = true
		played := w.run(t)
		if wrong := check(played); wrong != "" {
			t.Errorf("under %q: %s", simtest.Faults(faults), wrong)
		}
		return len(played.cluster.Happened()) > 0
	}
	play()
	step := 1
	if testkit.Race { // the detector has enough to see in some of them
		step = 7
	}
	for process := range max(len(s.hosts), 1) {
		for _, effect := range []simtest.Effect{simtest.Crash, simtest.CrashAfter} {
			for n := 1; !t.Failed() && play(simtest.Fault{Effect: effect, Process: process, Point: "append", Nth: n}); n += step {
			}
		}
	}
}

// cells checks cells of actors, given as "type/id.cell", against values.
func (w *world) cells(want map[string]string) string {
	var wrong []string
	for place, value := range want {
		actor, cell, _ := strings.Cut(place, ".")
		a := address(actor)
		if got := w.judge.Cell(a.Type, a.Actor, cell); got != value {
			wrong = append(wrong, fmt.Sprintf("%s is %q, want %q", place, got, value))
		}
	}
	return strings.Join(wrong, ", ")
}

func (w *world) accepted() int { return w.judge.Effects()[record.KindClientRequest] }

// once makes a crash, or another fault, at the n-th time of a point.
func once(e simtest.Effect, process int, point string, n int, d time.Duration) simtest.Fault {
	return simtest.Fault{Effect: e, Process: process, Point: point, Nth: n, For: d}
}

// Words of scripts.

func increment(cell string) []op { return []op{{Do: "get", Cell: cell}, {Do: "set", Cell: cell}} }

// counted increments c0 exactly once, whatever happens: get, then a tail call.
func counted() []op {
	return []op{{Do: "get", Cell: "c0"}, {Do: "tail self", Script: []op{{Do: "assign", Cell: "c0"}, {Do: "end"}}}}
}

func sleep(ms int) op { return op{Do: "sleep", Wait: ms} }

func to(do, actor string, script ...op) op { return op{Do: do, To: actor, Script: script} }

// lines joins scripts.
func lines(parts ...[]op) (all []op) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}
