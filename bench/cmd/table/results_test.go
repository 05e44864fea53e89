package main

import (
	"slices"
	"strings"
	"testing"
)

const roundOne = `goos: linux
cpu: AMD EPYC
BenchmarkBreaker/closed/bare-2         	1000	         2.0 ns/op	       0 B/op	       0 allocs/op
BenchmarkBreaker/closed/backstay-2     	1000	        30 ns/op	       0 B/op	       0 allocs/op
BenchmarkBreaker/closed/go-resiliency-2	1000	        90 ns/op	      16 B/op	       1 allocs/op
BenchmarkRegistry/idle-key/backstay    	1	      1000 ns/op	     280.5 B/key
BenchmarkNoisy
PASS
`

func read(t *testing.T, rounds ...string) *results {
	t.Helper()
	s := newResults()
	for _, r := range rounds {
		if err := s.read(strings.NewReader(r)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestTheMedianIsTakenOverTheRounds(t *testing.T) {
	second := strings.ReplaceAll(roundOne, " 30 ns", " 50 ns")
	third := strings.ReplaceAll(roundOne, " 30 ns", " 1000 ns")
	for _, c := range []struct {
		rounds []string
		want   float64
	}{
		{[]string{roundOne}, 30},
		{[]string{roundOne, second}, 40},
		{[]string{third, roundOne, second}, 50},
	} {
		if got, ok := read(t, c.rounds...).median("Breaker/closed/backstay", unitTime); !ok || got != c.want {
			t.Errorf("%d rounds: %v %v, want %v", len(c.rounds), got, ok, c.want)
		}
	}
}

func TestUnitsOfABenchmarksOwnAreKept(t *testing.T) {
	if got, ok := read(t, roundOne).median("Registry/idle-key/backstay", "B/key"); !ok || got != 280.5 {
		t.Errorf("%v %v, want 280.5", got, ok)
	}
}

func TestWhatWasNotMeasuredHasNoMedian(t *testing.T) {
	s := read(t, roundOne)
	for _, name := range []string{"Noisy", "Breaker/closed", "Hedge/idle/backstay"} {
		if got, ok := s.median(name, unitTime); ok {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestLibrariesAreThoseOfTheCaseAsTheyRan(t *testing.T) {
	want := []string{"bare", "backstay", "go-resiliency"} // the processors are no part of the name
	if got := read(t, roundOne).libraries("Breaker/closed"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestALineThatCannotBeReadIsAnError(t *testing.T) {
	broken := "BenchmarkX-2 1000 fast ns/op\n"
	if err := newResults().read(strings.NewReader(broken)); err == nil || !strings.Contains(err.Error(), "fast") {
		t.Errorf("%v", err)
	}
}
