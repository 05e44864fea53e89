package main

import (
	"math"
	"testing"
)

func TestABurnerUsesWhatIsLeft(t *testing.T) {
	for others := range 10 {
		part, rest := 0.0, float64(others)/10
		for range 40 {
			part = next(part, min(rest+part, 1))
		}
		if want := max(busyAt-rest, 0); math.Abs(part-want) > .01 {
			t.Errorf("others use %.1f, and it uses %.2f", rest, part)
		}
	}
}

func TestTheSystemsCountIsRead(t *testing.T) {
	before, err := parseUsage("cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 2 3 4\n")
	if err != nil || before != (ticks{150, 1000}) {
		t.Errorf("%v, %v", before, err)
	}
	after, err := parseUsage("cpu  180 0 60 805 55 0 0 0 0 0\n")
	if got := after.since(before); err != nil || math.Abs(got-.9) > 1e-9 {
		t.Errorf("%v, %v", got, err)
	}
	if got := after.since(after); got != 0 {
		t.Errorf("%v within no time", got)
	}
	if _, err := parseUsage("intr 1"); err == nil {
		t.Error("another line was taken")
	}
}
