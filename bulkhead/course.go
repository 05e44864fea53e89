package bulkhead

import (
	"math"
	"time"

	"github.com/backstay-go/backstay"
)

const (
	// leastSamples is how many calls a window needs to be believed.
	leastSamples = 10
	// tooCongested is the share of congested calls that cuts the limit. It is
	// not zero, so that a background of a few timeouts does not hold the
	// limit of a busy target at its floor.
	tooCongested = 0.05
	// smoothing is how far the gradient moves the limit in one window.
	smoothing = 0.2
	// steepest is the least gradient, so that one odd window does not close
	// the bulkhead.
	steepest = 0.5
)

// A sample is the end of one call.
type sample struct {
	began     backstay.Instant
	latency   time.Duration
	inFlight  int64
	congested bool
}

// A window is what has been seen since the limit was last reconsidered.
type window struct {
	began     backstay.Instant
	count     int64
	congested int64
	answered  int64
	latency   time.Duration // of all answers together
	peak      int64         // the most that was in flight
}

func (w *window) add(s sample) {
	w.count++
	w.peak = max(w.peak, s.inFlight)
	if s.congested {
		w.congested++
		return
	}
	w.answered++
	w.latency += s.latency
}

// mean returns the mean latency of the answers, 0 if there were none.
func (w *window) mean() time.Duration {
	if w.answered == 0 {
		return 0
	}
	return max(1, w.latency/time.Duration(w.answered))
}

func (w *window) tooCongested() bool {
	return float64(w.congested) > tooCongested*float64(w.count)
}

// used reports whether enough was in flight to say that more would be used.
func (w *window) used(limit float64) bool { return float64(w.peak) >= limit/2 }

// A course is where an adaptive limit stands.
type course struct {
	limit float64 // with the fraction that it has grown by
	// idle is the shortest mean latency of a window since it was last
	// measured afresh: what the backend takes when it has no queue.
	idle     time.Duration
	measured backstay.Instant
	// resume is the limit to go back to after a measurement, 0 if none is
	// under way.
	resume float64
}

func (s course) measuring() bool { return s.resume > 0 }

// next is the decision what comes after a window: the limit, and how it will
// be judged from there. It reads no clock; now is the end of the window.
func (s course) next(c *AdaptiveConfig, w window, now backstay.Instant) course {
	if c.Algorithm == AIMD {
		s.limit = aimd(s.limit, c.Decrease, w)
	} else {
		s = s.gradient(c, w, now)
	}
	s.limit = min(max(s.limit, float64(c.Min)), float64(c.Max))
	return s
}

// aimd cuts the limit where there was congestion, and otherwise adds one call
// if what there is was used.
func aimd(limit, decrease float64, w window) float64 {
	switch {
	case w.tooCongested():
		return limit * decrease
	case w.used(limit):
		return limit + 1
	default:
		return limit
	}
}

// gradient moves the limit towards limit x idle latency / latency, plus the
// square root of the limit as room to find out whether more is possible.
func (s course) gradient(c *AdaptiveConfig, w window, now backstay.Instant) course {
	mean := w.mean()
	if s.measuring() {
		s.limit, s.resume, s.measured = s.resume, 0, now
		if mean > 0 {
			s.idle = mean
		}
		return s
	}
	if mean > 0 && (s.idle == 0 || mean < s.idle) {
		s.idle = mean
	}
	if g := slope(c.Tolerance, s.idle, mean, w); g < 1 || w.used(s.limit) {
		s.limit += smoothing * (s.limit*g + math.Sqrt(s.limit) - s.limit)
	}
	if now.Sub(s.measured) >= c.Remeasure {
		s.resume = s.limit
		s.limit /= 2
	}
	return s
}

// slope is 1 where latency is good, and less the worse it is.
func slope(tolerance float64, idle, mean time.Duration, w window) float64 {
	if w.tooCongested() || mean == 0 {
		return steepest
	}
	return min(max(tolerance*float64(idle)/float64(mean), steepest), 1)
}
