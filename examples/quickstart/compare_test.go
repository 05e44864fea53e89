package main

import (
	"testing"
	"testing/synctest"
	"time"
)

// How long anything takes is for the table to tell; what is checked here holds
// on any machine.
func TestOnABadDayBackstayFailsNobody(t *testing.T) {
	d := day{length: 250 * time.Millisecond, calls: 100}
	days := []*tally{nil, nil, nil}
	requests := []int64{0, 0, 0}
	for i := range days {
		synctest.Test(t, func(t *testing.T) {
			s := inMemory()
			all, err := contenders(s)
			if err != nil {
				t.Fatal(err)
			}
			days[i] = all[i].live(t.Context(), s.menu, d)
			requests[i] = s.menu.seen()
			if err := s.close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	plain, again, careful := days[0], days[1], days[2]
	for _, r := range days {
		if n := r.fresh + r.stale + r.failed; n != d.calls || len(r.took) != n {
			t.Errorf("%d calls and %d latencies, want %d", n, len(r.took), d.calls)
		}
	}
	if plain.failed < d.calls/20 || plain.stale+again.stale != 0 {
		t.Errorf("the day is not bad enough: %v", plain)
	}
	if careful.failed > 0 && careful.failed >= plain.failed {
		t.Errorf("with Backstay as many calls fail as without:\n%v\n%v", careful, plain)
	}
	if requests[1] <= requests[0] {
		t.Errorf("trying again costs no requests: %d, %d without", requests[1], requests[0])
	}
}
