package simtest_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/backstay-go/backstay/actors/internal/simtest"
	"github.com/backstay-go/backstay/internal/testkit"
)

// Acceptance case A25, A29, A33, A38, A47, A49, A51, A54, A82.
func TestRandomProgramsKeepEveryPropertyUnderRandomFaults(t *testing.T) {
	const seeds, withRace = 150, 20
	seen := coverage{effects: make(map[string]bool), records: make(map[string]bool)}
	c := &simtest.Campaign{Seeds: seeds, Parallel: 2, Processes: processes, Span: span, Points: []string{"body"}, Harsh: true}
	if testkit.Race {
		c.Seeds = withRace
	}
	c.Try = func(seed uint64, faults []simtest.Fault) []string {
		bad, w := try(t, seed, faults)
		seen.add(w)
		return bad
	}
	c.Run(t)
	if seen.runs >= seeds {
		seen.judge(t)
	}
}

// coverage is what happened in all runs: a fault that never strikes, or a kind of
// record that is never effective, proves nothing.
type coverage struct {
	mu      sync.Mutex
	runs    int
	effects map[string]bool
	records map[string]bool
}

func (c *coverage) add(w *world) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs++
	for _, f := range w.cluster.Happened() {
		effect, _, _ := strings.Cut(f, "/")
		c.effects[effect] = true
	}
	for kind, n := range w.judge.Effects() {
		if n > 0 {
			c.records[kind.String()] = true
		}
	}
}

func (c *coverage) judge(t *testing.T) {
	t.Helper()
	for _, e := range []simtest.Effect{
		simtest.Crash, simtest.CrashAfter, simtest.Pause, simtest.Zombie, simtest.Evict, simtest.Blind, simtest.LoseAck, simtest.Fail, simtest.FailLate, simtest.Copy, simtest.Swap, simtest.Slow, simtest.Clock, simtest.Jump, simtest.Refuse,
	} {
		if !c.effects[string(e)] {
			t.Errorf("%q never struck", e)
		}
	}
	for _, kind := range []string{"client request", "request", "response", "cancel", "takeover", "issued", "write", "begun", "failed", "step", "expired", "forwarded", "fire", "ingest", "undeliverable"} {
		if !c.records[kind] {
			t.Errorf("no %s was effective", kind)
		}
	}
}
