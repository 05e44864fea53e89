package simtest_test

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/internal/simtest"
)

// Scenes are what random walks came upon once in thousands of seeds.

// scene plays roots on one process with one partition a type.
func scene(t *testing.T, s runtime.Settings, faults []simtest.Fault, roots ...root) {
	t.Helper()
	play := &scenario{settings: s, faults: faults, roots: roots, spare: true}
	play.run(t)
}

func TestAReminderThatIsMovedWhileItsFireIsUnderWayFires(t *testing.T) {
	remind := []op{{Do: "remind", Cell: "r", Wait: 100, Script: []op{{Do: "end"}}}}
	scene(t, runtime.Settings{},
		[]simtest.Fault{{Effect: simtest.FailLate, Point: "append fire", Nth: 1, For: 500 * time.Millisecond}},
		root{0, "p/0", remind}, root{20 * time.Millisecond, "p/0", append([]op{{Do: "sleep", Wait: 200}}, remind...)},
	)
}

func TestAPartitionThatComesBackIsOwnedAgainThoughAnotherStillDrains(t *testing.T) {
	scene(t, runtime.Settings{},
		[]simtest.Fault{{Effect: simtest.Zombie, Point: "time", Nth: 200, For: 10 * time.Millisecond}},
		root{0, "q/2", []op{{Do: "sleep", Wait: 600}, {Do: "call", To: "p/1", Script: []op{{Do: "end"}}}}},
		root{0, "p/0", []op{{Do: "sleep", Wait: 400}}},
	)
}

func TestARetryComesThoughTheLogsClockWentBackWhileChildrenWereOut(t *testing.T) {
	nothing := []op{{Do: "end"}}
	scene(t, runtime.Settings{StepTimeout: 2 * time.Minute, Backoff: func(uint64) time.Duration { return 5 * time.Second }},
		[]simtest.Fault{{Effect: simtest.Clock, Point: "time", Nth: 1000, For: -time.Minute}},
		root{0, "p/0", []op{{Do: "go", To: "q/2", Script: []op{{Do: "sleep", Wait: 40_000}}}, {Do: "await briefly"}, {Do: "retry"}}},
		root{12 * time.Second, "p/1", nothing}, root{24 * time.Second, "p/3", nothing}, root{36 * time.Second, "q/4", nothing}, // so that the process learns of it
	)
}

func TestWhoDiesOnTheWayToTheMembersKeepsNothing(t *testing.T) {
	for ms := range 5 {
		scene(t, runtime.Settings{}, []simtest.Fault{{Effect: simtest.Crash, Point: "time", Nth: ms + 1}}, root{0, "p/0", []op{{Do: "end"}}})
	}
}
