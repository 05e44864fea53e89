package simtest_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/internal/simtest"
	"github.com/backstay-go/backstay/actors/journal"
)

func headerOf(m journal.Message, name string) string {
	for _, h := range m.Headers {
		if h.Name == name {
			return string(h.Value)
		}
	}
	return ""
}

// S2: a copy of an owner's record lands at every later stage, and changes nothing:
// the judge compares the states.
func TestS2_ACopyOfEveryKindOfAnOwnersRecord(t *testing.T) {
	all := []op{
		{Do: "remind", Cell: "r", Wait: 40, Script: []op{{Do: "end"}}},
		to("go", "q/2", sleep(150)), {Do: "go", To: "q/2", TTL: 8, Script: []op{{Do: "end"}}}, // that one expires
		{Do: "await briefly"}, {Do: "get", Cell: "c1"}, {Do: "set", Cell: "c1"}, {Do: "await"}, {Do: "retry"},
	}
	play := &scenario{
		hosts: []string{"p", "q", "pq"}, spare: true, // all are struck by what one of them does
		settings: runtime.Settings{StrictBegin: true, CancelOrphans: true},
		roots:    []root{{0, "p/0", lines(all, counted())}, {10 * time.Millisecond, "p/1", []op{to("call", "q/2")}}},
	}
	moved := []simtest.Fault{once(simtest.Crash, 0, "time", 1500, 0), once(simtest.Crash, 1, "time", 1600, 0)}
	regained := []simtest.Fault{ // the third owns all, and then they come back
		once(simtest.Evict, 0, "time", 1500, 500*time.Millisecond), once(simtest.Evict, 1, "time", 1500, 500*time.Millisecond), once(simtest.Evict, 2, "time", 4000, 3*time.Second),
	}
	// That a caller's death leaves calls behind which are cancelled.
	orphaned := once(simtest.CrashAfter, 0, "append issued", 1, 0)
	for _, kind := range []string{"takeover", "issued", "write", "begun", "failed", "step", "expired", "forwarded", "fire", "cancel"} {
		for _, moment := range []struct {
			name  string
			after time.Duration
			more  []simtest.Fault
		}{
			{"before it is read", 10 * time.Microsecond, nil},
			{"when it is read", 6 * time.Millisecond, nil},
			{"after the answers", 600 * time.Millisecond, nil},
			{"after a takeover", 8 * time.Second, moved},
			{"after it was lost and regained", 9 * time.Second, regained},
		} {
			t.Run(kind+" "+moment.name, func(t *testing.T) {
				faults := slices.Clone(moment.more)
				if kind == "cancel" {
					faults = append(faults, orphaned)
				}
				copies := 0
				for process := range 3 {
					faults = append(faults, once(simtest.Copy, process, "append "+kind, 1, moment.after))
				}
				w := play.with(faults...).run(t)
				for _, f := range w.cluster.Happened() {
					if parsed, err := simtest.ParseFaults(f); err == nil && parsed[0].Effect == simtest.Copy {
						copies++
					}
				}
				if copies == 0 {
					t.Errorf("no %s was written", kind)
				}
				if wrong := w.cells(map[string]string{"p/0.c0": "1"}); wrong != "" {
					t.Error(wrong)
				}
			})
		}
	}
}

// run of outputs from one partition to another, which must come whole and in order.
func run(faults ...simtest.Fault) *scenario {
	var tells []op
	for n := 1; n <= 4; n++ {
		tells = append(tells, to("tell", "q/2", op{Do: "note", Cell: fmt.Sprint(n)}))
	}
	return &scenario{hosts: []string{"p", "q"}, config: runtime.Config{SnapshotRecords: 1}, faults: faults, roots: []root{{0, "p/0", tells}}}
}

// S3: one of four sends fails, is turned round, lands without being acknowledged
// or twice; those behind it land.
func TestS3_ARunOfSendsWithOneThatGoesWrong(t *testing.T) {
	for n := 1; n <= 4; n++ {
		for _, f := range []simtest.Fault{
			once(simtest.Fail, 0, "append request", n, 0),
			once(simtest.Swap, 0, "append request", n, 0),
			once(simtest.LoseAck, 0, "append request", n, 0),
			once(simtest.FailLate, 0, "append request", n, 100*time.Millisecond),
			once(simtest.Copy, 0, "append request", n, time.Millisecond),
			once(simtest.Copy, 0, "append request", n, 1500*time.Millisecond), // after it was dropped from the outbox
			once(simtest.Copy, 0, "append request", n, 20*time.Second),        // after the log was cut off
			once(simtest.CrashAfter, 0, "append request", n, 0),
		} {
			if wrong := run(f).run(t).cells(map[string]string{"q/2.notes": "1234"}); wrong != "" {
				t.Errorf("under %s: %s", f.String(), wrong)
			}
		}
	}
}

// S13: requests of one partition to another keep their order.
func TestS13_MailBetweenTwoPartitionsKeepsItsOrder(t *testing.T) {
	for seed := range uint64(10) {
		play := run(once(simtest.Slow, 0, "append request", 1+int(seed)%4, 200*time.Millisecond)) //nolint:gosec // small
		play.seed = seed
		if wrong := play.run(t).cells(map[string]string{"q/2.notes": "1234"}); wrong != "" {
			t.Error(wrong)
		}
	}
}

// S13, H11: along a chain that goes over a third partition there is no such order.
// What was told first comes second here; nothing promises otherwise.
func TestS13_AChainOverAThirdPartitionMayOvertake(t *testing.T) {
	play := &scenario{
		hosts:  []string{"p", "q", "r"},
		faults: []simtest.Fault{once(simtest.Slow, 0, "append request", 1, 200*time.Millisecond)},
		roots: []root{{0, "p/0", []op{
			to("tell", "r/5", op{Do: "note", Cell: "first "}),
			to("tail to", "q/2", to("tail to", "r/5", op{Do: "note", Cell: "second "}, op{Do: "end"})),
		}}},
	}
	if wrong := play.run(t).cells(map[string]string{"r/5.notes": "second first "}); wrong != "" {
		t.Error(wrong)
	}
}

// S14: a tell that the log refuses for good leaves a dead letter, or copies of one,
// wherever its owner dies, and nothing behind it waits for ever.
func TestS14_ATellThatIsRefusedForGoodLeavesADeadLetter(t *testing.T) {
	for n := 1; n <= 4; n++ {
		for _, f := range []simtest.Fault{
			once(simtest.Crash, 0, "publish", 1, 0),
			once(simtest.Fail, 0, "publish", 1, 0),
			once(simtest.LoseAck, 0, "publish", 1, 0),
			once(simtest.Zombie, 0, "publish", 1, time.Second),
			once(simtest.Crash, 0, "append undeliverable", 1, 0),
			once(simtest.CrashAfter, 0, "append undeliverable", 1, 0),
		} {
			play := run(once(simtest.RefuseTell, 0, "append request", n, 0), f)
			play.spare, play.hosts = true, []string{"p", "q", "p"}
			w := play.run(t)
			want := strings.Replace("1234", strconv.Itoa(n), "", 1)
			if wrong := w.cells(map[string]string{"q/2.notes": want}); wrong != "" {
				t.Errorf("the %d. is refused, %s: %s", n, f.String(), wrong)
			}
			letters := w.cluster.Letters("dead")
			if len(letters) == 0 {
				t.Errorf("the %d. is refused, %s: there is no letter", n, f.String())
			}
			for _, l := range letters {
				if number := headerOf(l, runtime.HeaderNumber); number != strconv.Itoa(n) {
					t.Errorf("the %d. is refused, %s: a letter of the %s.", n, f.String(), number)
				}
			}
			if len(w.cluster.Happened()) != 2 {
				t.Errorf("%s: only %v happened", f.String(), w.cluster.Happened())
			}
		}
	}
}

// S14: a send that the log refuses for good is given up, and nothing behind it
// waits; who called learns of it (H20).
func TestS14_AnOutputThatIsRefusedForGoodHoldsNothingUp(t *testing.T) {
	for n := 1; n <= 3; n++ {
		calls := []op{to("go", "q/2", op{Do: "note", Cell: "1"}), to("go", "q/2", op{Do: "note", Cell: "2"}), to("go", "q/2", op{Do: "note", Cell: "3"}), {Do: "await"}}
		play := &scenario{
			hosts: []string{"p", "q"}, roots: []root{{0, "p/0", lines(calls, counted())}},
			faults: []simtest.Fault{once(simtest.Refuse, 0, "append request", n, 0)},
		}
		want := []string{"", "23", "13", "12"}[n]
		if wrong := play.run(t).cells(map[string]string{"q/2.notes": want, "p/0.c0": "1"}); wrong != "" {
			t.Errorf("the %d. is refused: %s", n, wrong)
		}
	}
}

// S14: a response that the log refuses for good is a failure for who waits for it,
// wherever its owner dies, and holds nothing up.
func TestS14_AResultThatIsRefusedForGoodIsAFailure(t *testing.T) {
	for n := 1; n <= 3; n++ {
		for _, f := range []simtest.Fault{
			once(simtest.Crash, 1, "append undeliverable", 1, 0),
			once(simtest.CrashAfter, 1, "append undeliverable", 1, 0),
			once(simtest.Copy, 1, "append undeliverable", 1, 20*time.Millisecond),
			once(simtest.Zombie, 1, "append undeliverable", 1, time.Second),
		} {
			calls := []op{to("go", "q/2", op{Do: "note", Cell: "1"}), to("go", "q/2", op{Do: "note", Cell: "2"}), to("go", "q/2", op{Do: "note", Cell: "3"}), {Do: "await"}}
			play := &scenario{
				hosts: []string{"p", "q", "q"}, roots: []root{{0, "p/0", lines(calls, counted())}},
				faults: []simtest.Fault{once(simtest.RefuseResult, 1, "append response", n, 0), f},
			}
			w := play.run(t)
			if wrong := w.cells(map[string]string{"q/2.notes": "123", "p/0.c0": "1"}); wrong != "" {
				t.Errorf("the %d. is refused, %s: %s", n, f.String(), wrong)
			}
			if len(w.cluster.Happened()) != 2 {
				t.Errorf("%s: only %v happened", f.String(), w.cluster.Happened())
			}
		}
	}
}
