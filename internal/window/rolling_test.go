package window_test

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/window"
)

// at is a time in seconds.
func at(s int64) backstay.Instant { return backstay.Instant(s*int64(time.Second) + 1) }

func TestRollingForgetsABucketAtATime(t *testing.T) {
	r := window.NewRolling(10*time.Second, 10)
	for s := range int64(10) {
		r.Add(at(s), true, false)
	}
	for _, c := range []struct {
		s    int64
		want int
	}{{9, 10}, {10, 9}, {14, 5}, {18, 1}, {19, 0}, {1000, 0}} {
		if got := r.Counts(at(c.s)).Calls; got != c.want {
			t.Errorf("after %d s: %d calls, want %d", c.s, got, c.want)
		}
	}
}

func TestRollingTakesReadingsThatAreALittleOld(t *testing.T) {
	r := window.NewRolling(10*time.Second, 10)
	r.Add(at(15), false, false)
	r.Add(at(14), true, false) // its bucket is still in the window
	r.Add(at(5), true, false)  // its bucket serves 15 by now
	if got, want := r.Counts(at(15)), (window.Counts{Calls: 2, Failures: 1, Consecutive: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := r.Counts(at(14)).Calls; got != 2 {
		t.Errorf("an old reader sees %d calls, want 2: the newer ones too", got)
	}
}

func TestRollingForgetsAllAfterALongPause(t *testing.T) {
	r := window.NewRolling(time.Hour, 1)
	const hour = 3600
	r.Add(at(3*hour), true, true)
	r.Add(at(1000*hour), false, false)
	if got, want := r.Counts(at(1000*hour)), (window.Counts{Calls: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
