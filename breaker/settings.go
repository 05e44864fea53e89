package breaker

import (
	"context"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/window"
)

// settings is a Config made ready. All breakers of one Config share it.
type settings struct {
	Config
	// strip lays out the window of calls in one word, where it has room.
	strip window.Strip
	// healthy is the word that a success leaves as it is; where there is no
	// strip, a word that never occurs.
	healthy uint64
	// wide is true where the window does not fit into a strip: it is one of
	// time, or of many calls, or must tell longer rows of failures.
	wide bool
	// timed is true where every call's end must be timed.
	timed bool
}

func newSettings(c Config) *settings {
	c = c.withDefaults()
	s := &settings{Config: c, timed: c.TimeWindow > 0 || c.SlowRatio > 0}
	strip, fits := window.NewStrip(c.Window, c.SlowRatio > 0)
	s.strip, s.healthy = strip, strip.Healthy()
	if s.wide = !fits || c.Consecutive > c.Window; s.wide {
		s.healthy = ^uint64(0)
	}
	return s
}

// timesStart reports whether the start of a call under ctx must be timed: for
// the slow rule, or because the call's own deadline may cut it.
func (s *settings) timesStart(ctx context.Context) bool {
	if s.SlowAfter == 0 {
		return false
	}
	if s.SlowRatio > 0 {
		return true
	}
	_, ends := ctx.Deadline()
	return ends
}

// openFor is how long opening number n lasts; the first is number 1.
func (s *settings) openFor(n int) time.Duration {
	d := s.OpenFor
	for ; n > 1 && d < s.MaxOpenFor; n-- {
		d *= 2
	}
	return min(d, s.MaxOpenFor)
}

// verdict is what a call's end says about the backend.
type verdict struct{ neutral, failed, slow bool }

// bad reports whether v can open a breaker.
func (v verdict) bad() bool { return v.failed || v.slow }

// judge decides what a call under ctx that took elapsed counts as.
func (s *settings) judge(ctx context.Context, class backstay.Class, elapsed time.Duration) verdict {
	late := s.SlowAfter > 0 && elapsed >= s.SlowAfter
	switch {
	case class.Failure():
		return verdict{failed: true, slow: late && s.SlowRatio > 0}
	case class == backstay.Success, class == backstay.Permanent:
		return verdict{slow: late && s.SlowRatio > 0}
	case class == backstay.Canceled && late && ctx.Err() == context.DeadlineExceeded:
		return verdict{failed: true, slow: s.SlowRatio > 0}
	default:
		return verdict{neutral: true}
	}
}

// alike reports whether the windows of s and t hold the same in the same way.
func (s *settings) alike(t *settings) bool {
	return s.Window == t.Window && s.TimeWindow == t.TimeWindow && s.Buckets == t.Buckets &&
		s.strip == t.strip && s.wide == t.wide && (s.SlowRatio > 0) == (t.SlowRatio > 0)
}
