package main

import (
	"slices"
	"strings"
	"testing"
)

func TestATargetIsMetMissedOrNotMeasured(t *testing.T) {
	s := read(t, roundOne)
	told := report(s)
	for _, want := range []string{
		"pass  breaker, closed: allocations",
		"pass  registry: bytes of an idle key",
		"-     breaker, closed: of gobreaker",
		"2 targets met, 0 missed",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in\n%s", want, told)
		}
	}
	told = report(read(t, strings.ReplaceAll(roundOne, "280.5", "300.5")))
	if want := "MISS  registry: bytes of an idle key"; !strings.Contains(told, want) {
		t.Errorf("no %q in\n%s", want, told)
	}
}

func TestARatioIsOfWhatWasAdded(t *testing.T) {
	ratio := target{
		what: added("Breaker/closed", "backstay", unitTime),
		to:   added("Breaker/closed", "go-resiliency", unitTime),
		most: 1,
	}
	if got, ok := ratio.measured(read(t, roundOne)); !ok || got != 28.0/88 {
		t.Errorf("%v %v, want %v", got, ok, 28.0/88)
	}
}

func TestEveryTargetSaysWhatItIs(t *testing.T) {
	var names []string
	for _, one := range targets {
		names = append(names, one.says)
	}
	slices.Sort(names)
	if unique := slices.Compact(slices.Clone(names)); len(unique) != len(names) {
		t.Errorf("two targets read alike: %q", names)
	}
}
