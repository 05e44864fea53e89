package simtest_test

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/internal/simtest"
)

// working is work of every kind on two types, with hosts that can take over.
func working() *scenario {
	return &scenario{
		hosts: []string{"p", "q", "pq"}, stored: true,
		settings: runtime.Settings{CancelOrphans: true, StrictBegin: true},
		config:   runtime.Config{SnapshotRecords: 3, ChunkSize: 1},
		roots: []root{
			{0, "p/0", lines([]op{to("call", "q/2", lines([]op{to("call", "p/1", counted()...)}, counted())...)}, counted())},
			{0, "p/3", lines([]op{to("tell", "q/4", op{Do: "note", Cell: "1"}), to("tell", "q/4", op{Do: "note", Cell: "2"})}, increment("c0"))},
			{5 * time.Millisecond, "p/1", lines([]op{sleep(40)}, counted())},
		},
	}
}

// worked says what is wrong with the outcome of working.
func worked(w *world) string {
	return w.cells(map[string]string{"p/0.c0": "1", "p/3.c0": "1", "q/4.notes": "12"})
}

// trusting is a scenario in which an owner that was replaced takes over again for
// as long as it does not know: each time counts as an attempt, and what is given
// up would not be there in the end.
func (s *scenario) trusting() *scenario {
	other := *s
	other.trusts, other.settings.MaxAttempts = true, 50
	return &other
}

// S5: an owner is stopped before it does something, another takes over, and then
// the first does it all the same, for as long as it does not know.
func TestS5_WhatIsDoneByAnOwnerThatWasReplaced(t *testing.T) {
	for _, point := range []string{"append begun", "append issued", "append step", "append request", "append response", "append forwarded", "append takeover", "save", "store", "truncate"} {
		t.Run(point, func(t *testing.T) {
			struck := 0
			for seed, d := range []time.Duration{20 * time.Millisecond, 300 * time.Millisecond, 3 * time.Second} {
				for _, e := range []simtest.Effect{simtest.Zombie, simtest.FailLate, simtest.Slow} {
					for process := range 2 {
						play := working().with(
							once(e, process, point, 1, d),
							once(simtest.Evict, process, "time", 12, 2*d), // so that what is late, or slow, is a zombie's
						)
						play.spare, play.seed = true, uint64(seed) //nolint:gosec // small
						for _, play := range []*scenario{play, play.trusting()} {
							w := play.run(t)
							struck += len(w.cluster.Happened())
							if wrong := worked(w); wrong != "" {
								t.Errorf("under %q: %s", simtest.Faults(play.faults), wrong)
							}
						}
					}
				}
			}
			if struck <= 36 { // every Evict, and some of the others
				t.Errorf("only the Evicts struck, %d", struck)
			}
		})
	}
}

// S5: an owner that reads nothing, and was replaced, begins a second attempt when
// its time has come.
func TestS5_AnOwnerThatWasReplacedBegins(t *testing.T) {
	play := &scenario{
		hosts:    []string{"p", "p"},
		settings: runtime.Settings{Backoff: func(uint64) time.Duration { return 200 * time.Millisecond }},
		faults:   []simtest.Fault{once(simtest.Evict, 0, "time", 50, time.Second), once(simtest.Blind, 0, "time", 50, 900*time.Millisecond)},
		roots:    []root{{0, "p/0", lines([]op{{Do: "retry"}}, counted())}},
	}
	if wrong := play.run(t).cells(map[string]string{"p/0.c0": "1"}); wrong != "" {
		t.Error(wrong)
	}
}

// S5: the outputs of a replaced owner come before and after those of the next,
// which are the same.
func TestS5_TwoOwnersForwardTheSameInBothOrders(t *testing.T) {
	for n := 1; n <= 4; n++ {
		for _, f := range []simtest.Fault{
			once(simtest.CrashAfter, 0, "append request", n, 0),                  // the first one's come first
			once(simtest.Zombie, 0, "append request", n, 3*time.Second),          // the next one's
			once(simtest.FailLate, 0, "append request", n, 300*time.Millisecond), // one of the first one's, between
		} {
			play := run(f)
			play.hosts = []string{"p", "q", "p"}
			if wrong := play.run(t).cells(map[string]string{"q/2.notes": "1234"}); wrong != "" {
				t.Errorf("under %s: %s", f.String(), wrong)
			}
		}
	}
}

// S6: claims of one epoch.
func TestS6_ClaimsBesideOneAnother(t *testing.T) {
	slow := func(process int, d time.Duration) simtest.Fault {
		return once(simtest.Slow, process, "append takeover", 1, d)
	}
	out := func(process, ms int) simtest.Fault {
		return once(simtest.Evict, process, "time", ms, 5*time.Second)
	}
	for _, x := range []struct {
		name   string
		claims int // Takeovers on record at least, effective or not
		faults []simtest.Fault
	}{
		{"two, and the winner is not assigned (H19)", 2, []simtest.Fault{slow(0, 100*time.Millisecond), out(0, 5), slow(1, 300*time.Millisecond)}},
		{"two, and the loser is not assigned", 2, []simtest.Fault{slow(0, 300*time.Millisecond), out(0, 5)}},
		{"three, and the last is assigned", 3, []simtest.Fault{slow(0, 300*time.Millisecond), out(0, 5), slow(1, 300*time.Millisecond), out(1, 10), slow(2, 350*time.Millisecond)}},
		{"the acknowledgement is lost", 1, []simtest.Fault{once(simtest.LoseAck, 0, "append takeover", 1, 0)}},
		{"it lands after the claim was given up", 2, []simtest.Fault{once(simtest.FailLate, 0, "append takeover", 1, 200*time.Millisecond)}},
		{"a death between append and reading", 2, []simtest.Fault{once(simtest.CrashAfter, 0, "append takeover", 1, 0)}},
		{"a death before the append", 1, []simtest.Fault{once(simtest.Crash, 0, "append takeover", 1, 0)}},
	} {
		t.Run(x.name, func(t *testing.T) {
			for seed := range uint64(5) {
				play := &scenario{hosts: []string{"p", "p", "p"}, seed: seed, faults: x.faults, roots: []root{{0, "p/0", counted()}, {time.Second, "p/0", counted()}, {9 * time.Second, "p/0", counted()}}}
				w := play.run(t)
				if wrong := w.cells(map[string]string{"p/0.c0": "3"}); wrong != "" {
					t.Error(wrong)
				}
				if n := w.judge.Landed()[record.KindTakeover]; n < x.claims {
					t.Errorf("%d claims", n)
				}
			}
		})
	}
}

// S6, H17: a method that ignores the end of its context outlives the loss of its
// partition, and its return to the same process. Nothing that it does counts.
func TestS6_AMethodThatOutlivesLossAndReturnChangesNothing(t *testing.T) {
	for _, wait := range []int{700, 1500, 2500, 4000} {
		play := &scenario{
			hosts: []string{"p", "p"},
			faults: []simtest.Fault{
				once(simtest.Evict, 0, "time", 300, 400*time.Millisecond), once(simtest.Evict, 1, "time", 1400, 5*time.Second),
			},
			roots: []root{{0, "p/0", []op{{Do: "get", Cell: "c0"}, {Do: "ignore", Wait: wait}, {Do: "set", Cell: "c0"}, {Do: "end"}}}},
		}
		if wrong := play.run(t).cells(map[string]string{"p/0.c0": "1"}); wrong != "" {
			t.Errorf("%d ms: %s", wait, wrong)
		}
	}
}

// S11: a process dies, is stopped or is late at every act of a snapshot: between
// its rows or chunks, before and after its manifest, and before the cut.
func TestS11_ASnapshotIsCutShortAnywhere(t *testing.T) {
	for _, stored := range []bool{true, false} {
		points := []string{"save", "truncate"}
		if stored {
			points = append(points, "store")
		}
		for _, point := range points {
			for _, e := range []simtest.Effect{simtest.Crash, simtest.CrashAfter, simtest.Fail, simtest.FailLate, simtest.Slow, simtest.Zombie} {
				for n := 1; n <= 3; n++ {
					play := working().with(once(e, 0, point, n, 400*time.Millisecond))
					play.stored, play.spare = stored, true
					play.config.SnapshotRecords = 1
					w := play.run(t)
					if wrong := worked(w); wrong != "" || len(w.cluster.Happened()) == 0 {
						t.Errorf("%s at the %d. %s (struck: %v): %s", e, n, point, w.cluster.Happened(), wrong)
					}
				}
			}
		}
	}
}

// S11, H10: an owner was replaced and sees nothing, and what it has not read is cut
// off meanwhile.
func TestS11_WhatAReplacedOwnerHasNotReadIsCutOff(t *testing.T) {
	play := working().with(once(simtest.Blind, 0, "time", 12, 4*time.Second), once(simtest.Evict, 0, "time", 12, 4*time.Second))
	play.config.SnapshotRecords = 1
	for i := range 5 {
		play.roots = append(play.roots, root{time.Duration(500+100*i) * time.Millisecond, "p/0", counted()})
	}
	if wrong := play.run(t).cells(map[string]string{"p/0.c0": "6"}); wrong != "" {
		t.Error(wrong)
	}
}
