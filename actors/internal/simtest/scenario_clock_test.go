package simtest_test

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/internal/simtest"
)

// jumps go past every deadline, wait and timeout of these tests, and come back.
var jumps = []time.Duration{-10 * time.Minute, -time.Minute, -time.Second, time.Second, time.Minute, 10 * time.Minute}

// S15: the clock of a process jumps in the middle of work of every kind. What runs
// ends, and all is done once.
func TestS15_AProcessWhoseClockJumpsWorksOn(t *testing.T) {
	for _, by := range jumps {
		for process := range 2 {
			for _, ms := range []int{8, 20, 60} {
				play := working().with(
					once(simtest.Jump, process, "time", ms, by),
					once(simtest.Jump, process, "time", ms+200, -by), // and it is set right
				)
				if wrong := worked(play.run(t)); wrong != "" {
					t.Errorf("by %v, after %d ms: %s", by, ms, wrong)
				}
			}
		}
	}
}

// S15: the clock of an owner jumps while a method runs that was called with a
// deadline, and while a reminder is set. The method ends as it would have, and the
// reminder fires once, when it is due by the log's clock.
func TestS15_ARunningMethodAndAReminderOutliveAJumpOfTheClock(t *testing.T) {
	for _, by := range jumps {
		t.Run(by.String(), func(t *testing.T) {
			nothing := []op{{Do: "end"}}
			play := &scenario{
				settings: runtime.Settings{StepTimeout: time.Hour},
				faults:   []simtest.Fault{once(simtest.Jump, 0, "time", 500, by)},
				roots: []root{
					{0, "p/0", []op{{Do: "remind", Cell: "r", Wait: 30_000, Script: []op{{Do: "note", Cell: "rang"}}}}},
					{100 * time.Millisecond, "q/2", []op{{Do: "call", To: "p/1", TTL: 5000, Script: lines([]op{sleep(20_000)}, increment("c0"))}, {Do: "get", Cell: "c1"}, {Do: "set", Cell: "c1"}}},
					{600 * time.Millisecond, "p/3", nothing}, // so that the process learns of it
					{15 * time.Second, "p/3", nothing}, {40 * time.Second, "p/3", nothing},
				},
			}
			if wrong := play.run(t).cells(map[string]string{"p/0.notes": "rang", "p/1.c0": "1", "q/2.c1": "1"}); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

// S15: a request with a deadline that waits at an owner whose clock jumps past it
// is expired, which its caller learns: it is neither lost nor done after that.
func TestS15_AJumpPastADeadlineExpiresWhatHasNotBegun(t *testing.T) {
	for _, by := range jumps {
		play := &scenario{
			settings: runtime.Settings{StepTimeout: time.Hour, BusyAfter: -1},
			faults:   []simtest.Fault{once(simtest.Jump, 0, "time", 500, by)},
			roots: []root{
				{0, "p/1", []op{sleep(3000)}},
				{100 * time.Millisecond, "q/2", []op{{Do: "call", To: "p/1", TTL: 20_000, Script: []op{{Do: "note", Cell: "done"}}}}},
				{600 * time.Millisecond, "p/3", []op{{Do: "end"}}},
			},
		}
		want := "done"
		if by > 20*time.Second {
			want = ""
		}
		if wrong := play.run(t).cells(map[string]string{"p/1.notes": want}); wrong != "" {
			t.Errorf("by %v: %s", by, wrong)
		}
	}
}
