package main

import (
	"runtime"
	"testing"
	"time"
)

func TestEveryCallOfADayIsAccountedFor(t *testing.T) {
	before := runtime.NumGoroutine()
	l := load{calls: 20, during: 50 * time.Millisecond}
	for _, d := range days {
		prices, reviews, err := d.live(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range []*tally{prices, reviews} {
			if n := one.answered + one.refused + one.gaveUp; n != l.calls || len(one.took) != n {
				t.Errorf("%s: %d calls and %d latencies, want %d", d.title, n, len(one.took), l.calls)
			}
		}
	}
	for range 500 { // connections end in the background
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}
