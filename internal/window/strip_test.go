package window_test

import (
	"testing"

	"github.com/backstay-go/backstay/internal/window"
)

func TestAStripHasRoomFor(t *testing.T) {
	for _, c := range []struct {
		name string
		size int
		slow bool
		fits bool
	}{
		{"one call", 1, false, true},
		{"62 calls", 62, false, true},
		{"not 63", 63, false, false},
		{"30 calls with slow ones", 30, true, true},
		{"not 31 with slow ones", 31, true, false},
		{"not none", 0, false, false},
		{"not fewer than none", -1, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, fits := window.NewStrip(c.size, c.slow); fits != c.fits {
				t.Errorf("fits = %v, want %v", fits, c.fits)
			}
		})
	}
}

func TestAnotherSuccessLeavesAHealthyStripAsItIs(t *testing.T) {
	for _, slow := range []bool{false, true} {
		for size := 1; ; size++ {
			s, fits := window.NewStrip(size, slow)
			if !fits {
				break
			}
			w := s.Empty()
			for range size {
				w = s.Push(w, false, false)
			}
			if w != s.Healthy() || s.Push(w, false, false) != w {
				t.Fatalf("size %d, slow %v: word %b, healthy %b", size, slow, w, s.Healthy())
			}
		}
	}
}

func TestAStripWithoutSlowCallsIgnoresThem(t *testing.T) {
	s, _ := window.NewStrip(5, false)
	if got, want := s.Counts(s.Push(s.Empty(), true, true)), (window.Counts{Calls: 1, Failures: 1, Consecutive: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
