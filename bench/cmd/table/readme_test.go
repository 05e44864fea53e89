package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheTableReplacesWhatStandsBetweenTheMarkers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(name, []byte("before\n"+begin+"\nold\n"+end+"\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time finds what the first one wrote
		if err := update(name, table(read(t, roundOne), 1)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text := string(got)
	row := "| breaker, closed | 2.0 ns (0) | **30 ns (0)** | go-resiliency 90 ns (1) 3.0× |\n"
	if !strings.HasPrefix(text, "before\n"+begin+"\nMeasured by ") || !strings.Contains(text, row) ||
		!strings.HasSuffix(text, row+end+"\nafter\n") {
		t.Errorf("got\n%s", text)
	}
}

func TestAReadmeWithoutMarkersIsLeftAlone(t *testing.T) {
	for _, text := range []string{"", begin, end, end + begin} {
		if got, err := between(text, "table"); err == nil {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestDurationsHaveTwoOrThreeDigits(t *testing.T) {
	for ns, want := range map[float64]string{
		1.23: "1.2 ns", 45.6: "46 ns", 999: "999 ns", 1234: "1.2 µs", 45678: "46 µs",
	} {
		if got := duration(ns); got != want {
			t.Errorf("%v: %q, want %q", ns, got, want)
		}
	}
}

func TestRatiosDoNotPretendToBeExact(t *testing.T) {
	for r, want := range map[float64]string{0.038: "0.04", 0.47: "0.5", 3.04: "3.0", 151.2: "151"} {
		if got := ratio(r); got != want {
			t.Errorf("%v: %q, want %q", r, got, want)
		}
	}
}
