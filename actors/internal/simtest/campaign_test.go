package simtest

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFaultsAreReadAsTheyAreWritten(t *testing.T) {
	for seed := range uint64(200) {
		want := Plan(seed, 3, time.Second, "mine")
		got, err := ParseFaults(Faults(want))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v, %v; want %v", seed, got, err, want)
		}
	}
	for _, text := range []string{"crash", "crash/x/ack/1/0s", "crash/1/ack/x/0s", "crash/1/ack/1/x"} {
		if _, err := ParseFaults(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	if all, err := ParseFaults(" ; "); err != nil || len(all) > 0 {
		t.Errorf("nothing was read as %v, %v", all, err)
	}
}

func TestAFailureIsShrunkToWhatItNeeds(t *testing.T) {
	needed := func(faults []Fault) bool { // a crash, and a pause of a second
		var crash, pause bool
		for _, f := range faults {
			crash = crash || f.Effect == Crash
			pause = pause || f.Effect == Pause && f.For >= time.Second
		}
		return crash && pause
	}
	c := Campaign{Processes: 3, Span: time.Second, Try: func(_ uint64, faults []Fault) []string {
		if needed(faults) {
			return []string{"it fails"}
		}
		return nil
	}}
	seed := uint64(0)
	for !needed(c.plan(seed)) {
		seed++
	}
	faults, bad := c.shrink(&failure{seed: seed, bad: []string{"it fails"}})
	if len(faults) != 2 || !needed(faults) || !slices.Equal(bad, []string{"it fails"}) {
		t.Errorf("%v, %v", Faults(faults), bad)
	}
	for _, f := range faults {
		if f.For >= 2*time.Second {
			t.Errorf("%v is longer than it must be", f.String())
		}
	}
}

func TestAFailureThatDoesNotComeAgainIsKept(t *testing.T) {
	c := Campaign{Processes: 3, Span: time.Second, Try: func(uint64, []Fault) []string { return nil }}
	_, bad := c.shrink(&failure{seed: 7, bad: []string{"it failed"}})
	if len(bad) != 2 || bad[0] != "it failed" || !strings.Contains(bad[1], "not again") {
		t.Errorf("%q", bad)
	}
}
