package simtest_test

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/internal/simtest"
)

// duel is two processes that both believe for 400 ms that they are assigned one
// partition, while a method is on its way there.
func duel(seed uint64, script []op, faults ...simtest.Fault) *scenario {
	return &scenario{
		hosts: []string{"p", "p"}, seed: seed, spare: true,
		config: runtime.Config{ClaimBackoff: 5 * time.Millisecond},
		faults: append(faults, once(simtest.Evict, 0, "time", 300, 400*time.Millisecond)),
		roots:  []root{{100 * time.Millisecond, "p/0", script}},
	}
}

// S6: what nothing is wrong with is not given up because two contend for its
// partition, unless the membership cannot be asked.
func TestS6_OfTwoWhoAreAssignedOneGivesIn(t *testing.T) {
	givenUp := 0
	for seed := range uint64(10) {
		play := duel(seed, lines([]op{sleep(1500)}, counted()))
		w := play.run(t)
		if wrong := w.cells(map[string]string{"p/0.c0": "1"}); wrong != "" {
			t.Errorf("seed %d: %s", seed, wrong)
		}
		n := w.judge.Effects()
		if n[record.KindTakeover] != 2 || n[record.KindBegun] != 1 {
			t.Errorf("seed %d: %d takeovers, %d attempts on record", seed, n[record.KindTakeover], n[record.KindBegun])
		}
		play.trusts = true
		if w = play.run(t); w.cells(map[string]string{"p/0.c0": "1"}) != "" {
			givenUp++
		}
	}
	if givenUp == 0 {
		t.Error("the test proves nothing: nothing is given up either where nobody can be asked")
	}
}

// S6: what kills its process is given up all the same.
func TestS6_WhatKillsItsProcessesIsGivenUpThoughTwoContend(t *testing.T) {
	for seed := range uint64(10) {
		var deaths []simtest.Fault
		for n := 1; n <= 20; n++ {
			deaths = append(deaths, once(simtest.Crash, 0, "point body", n, 0), once(simtest.Crash, 1, "point body", n, 0))
		}
		w := duel(seed, lines([]op{sleep(300), {Do: "point"}}, counted()), deaths...).run(t)
		if n := len(w.cluster.Letters("dead")); n != 1 {
			t.Errorf("seed %d: %d dead letters after %v", seed, n, w.cluster.Happened())
		}
		if n := len(w.cluster.Happened()) - 1; n > 6 { // the first attempt need not be on record
			t.Errorf("seed %d: it has killed %d processes", seed, n)
		}
	}
}
