package main

import (
	"strings"
	"testing"
)

func TestARowShowsTheBareCallBackstayAndTheOthers(t *testing.T) {
	got := table(read(t, roundOne), 1)
	row := "| breaker, closed | 2.0 ns (0) | **30 ns (0)** | go-resiliency 90 ns (1) 3.0× |\n"
	if !strings.HasPrefix(got, "Measured by ") || !strings.HasSuffix(got, row) {
		t.Errorf("got\n%s", got)
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
