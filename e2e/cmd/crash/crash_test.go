package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/e2e/brokers"
)

func TestMain(m *testing.M) { os.Exit(brokers.Run(m)) }

// The bounds are those of a machine that has other things to do.
const (
	longestOutage = 10 * time.Second
	longestGap    = 5 * time.Second
)

// Acceptance case A56.
func TestA56_ProcessesDieAlsoDuringRecoveryAndNothingIsLost(t *testing.T) {
	dir := t.TempDir()
	program, err := build(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "results")
	s, err := parse([]string{"-failures", "5", "-out", file, "-seed", "7"})
	if err != nil {
		t.Fatal(err)
	}
	r := &run{settings: s, program: program, addrs: brokers.Shared(t), copies: 1, app: "test"}
	r.plan = []string{"single", "paired", "single", "paused", "single"}
	if err := r.all(t.Context(), t.Output()); err != nil {
		t.Fatal(err)
	}
	results, err := read(file)
	if err != nil || len(results) != len(r.plan) {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for _, r := range results {
		if len(r.Faults) > 0 {
			t.Errorf("failure %d: %q", r.Number, r.Faults)
		}
		if r.Outage <= 0 || r.Outage > longestOutage || r.Others > longestGap {
			t.Errorf("failure %d, %s: an outage of %v, a gap of %v", r.Number, r.Mode, r.Outage, r.Others)
		}
	}
	var told bytes.Buffer
	if err := report(file, dir, &told); err != nil || !strings.Contains(told.String(), "5 results; 0 with a fault") {
		t.Errorf("%v\n%s", err, &told)
	}
}
