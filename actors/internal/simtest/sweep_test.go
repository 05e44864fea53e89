package simtest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/internal/simtest"
	"github.com/backstay-go/backstay/internal/testkit"
)

// TestEveryFaultAtEveryKindOfRecord: the random walks leave few of these out; this
// leaves none out.
func TestEveryFaultAtEveryKindOfRecord(t *testing.T) {
	if testkit.Race {
		t.Skip("the random walks are enough for that")
	}
	kinds := []string{
		"takeover", "issued", "write", "begun", "failed", "step", "expired", "forwarded", "fire", "ingest",
		"request", "response", "client request", "cancel",
	}
	effects := []simtest.Fault{
		{Effect: simtest.Crash},
		{Effect: simtest.CrashAfter},
		{Effect: simtest.Zombie, For: 700 * time.Millisecond},
		{Effect: simtest.LoseAck, For: 300 * time.Millisecond},
		{Effect: simtest.FailLate, For: 3 * time.Second},
		{Effect: simtest.Fail},
		{Effect: simtest.Copy, For: 30 * time.Second}, // when all is quiet
		{Effect: simtest.Copy, For: 400 * time.Microsecond},
	}
	for k, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			for e, f := range effects {
				f.Point, f.Nth = "append "+kind, 1
				var faults []simtest.Fault
				for f.Process = range processes { // wherever it happens to be
					faults = append(faults, f)
				}
				seed := uint64(1_000_000 + 100*k + e)
				if bad, _ := try(t, seed, faults); len(bad) > 0 {
					t.Errorf("%s\n%s=%d %s='%s'", strings.Join(bad, "\n"), simtest.EnvSeed, seed, simtest.EnvFaults, simtest.Faults(faults))
				}
			}
		})
	}
}
