package machine

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/internal/testkit"
)

var (
	states = flag.Int("states", 1000, "how many states of each scenario are explored, breadth first")
	walks  = flag.Int("walks", 3, "how many random walks each scenario gets")
)

// found is what an exploration came to.
type found struct {
	states   int
	complete bool
	fault    string
	trace    []string
}

func (f found) String() string { return f.fault + "\n" + strings.Join(f.trace, "") }

type node struct {
	from *node
	says string
	at   *world
}

func (n *node) trace(last string) []string {
	lines := []string{last}
	for ; n.from != nil; n = n.from {
		lines = append([]string{n.says}, lines...)
	}
	return lines
}

// explore visits worlds, the nearest first, until one is at fault.
func (x *scenario) explore(limit int) found {
	var b []byte
	seen := make(map[uint64]bool)
	queue := []*node{{at: x.start()}}
	for len(queue) > 0 && len(seen) < limit {
		n := queue[0]
		queue = queue[1:]
		live := false
		for _, m := range x.moves(n.at) {
			live = live || !m.fault
			if m.to.fault != "" {
				return found{len(seen), false, m.to.fault, n.trace(m.says)}
			}
			var sum uint64
			if sum, b = m.to.sum(b[:0]); !seen[sum] {
				seen[sum] = true
				queue = append(queue, &node{from: n, says: m.says, at: m.to})
			}
		}
		if !live {
			if fault := x.over(n.at); fault != "" {
				return found{len(seen), false, fault, n.trace("the end\n")}
			}
		}
		n.at = nil
	}
	return found{states: len(seen), complete: len(queue) == 0}
}

// walk takes moves by lot, to an end. Faults are injected late as well as early.
func (x *scenario) walk(seed uint64) found {
	lot := rand.New(rand.NewPCG(seed, 1))
	n := &node{at: x.start()}
	for range 500 {
		moves := x.moves(n.at)
		var needed []move
		for _, m := range moves {
			if !m.fault {
				needed = append(needed, m)
			}
			if m.to.fault != "" {
				return found{fault: m.to.fault, trace: n.trace(m.says)}
			}
		}
		if len(needed) == 0 {
			if fault := x.over(n.at); fault != "" {
				return found{fault: fault, trace: n.trace("the end\n")}
			}
			if len(moves) == 0 || lot.IntN(2) == 0 {
				break
			}
		}
		if len(needed) == 0 || lot.IntN(5) == 0 {
			needed = moves
		}
		m := needed[lot.IntN(len(needed))]
		n = &node{from: n, says: m.says, at: m.to}
	}
	return found{}
}

func TestNothingGoesWrongInAnyOrderOfEventsAndFaults(t *testing.T) {
	limit := *states
	if testkit.Race {
		limit /= 10 // the detector has nothing to detect in one goroutine
	}
	total, complete := 0, 0
	for _, x := range sound() {
		f := x.explore(limit)
		if f.fault != "" {
			t.Errorf("%s %+v: %v", x.name, x.budget, f)
		}
		if total += f.states; f.complete {
			complete++
		}
	}
	t.Logf("%d states of %d scenarios, %d exhausted", total, len(sound()), complete)
}

func TestNothingGoesWrongOnRandomWalks(t *testing.T) {
	for i, x := range sound() {
		for w := range *walks {
			seed := uint64(i*1000 + w)
			if f := x.walk(seed); f.fault != "" {
				t.Errorf("%s %+v, seed %d: %v", x.name, x.budget, seed, f)
			}
		}
	}
}

// Acceptance case A23.
func TestA23_OneStepThatReadsCallsAndWritesOvercounts(t *testing.T) {
	x := scenario{
		name: "write, then call", partitions: 1, owners: 2, actors: []int{0, 0},
		methods: []method{{{do: get}, {do: set}, {call, 1, 1}, {do: await}, {do: end}}, nothing},
		roots:   [][2]int{{0, 0}}, want: exactly(0, 1), budget: budget{crash: 1},
	}
	if f := x.explore(20000); f.fault == "" {
		t.Error("the faults do not bite")
	} else {
		t.Log(fmt.Sprint(len(f.trace), " moves: ", f.fault))
	}
}
