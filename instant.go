package backstay

import (
	"math"
	"time"
)

// start anchors every Instant. Its monotonic reading is what counts.
var start = time.Now()

// origin is the Instant of start. It leaves 73 years before start, because the
// virtual clock of testing/synctest begins in the year 2000, and 219 after.
const origin Instant = 1 << 61

// Instant is a reading of the monotonic clock, in nanoseconds. A pipeline reads
// the clock once an attempt and hands the Instant down from layer to layer,
// because a reading costs as much as all the rest of an idle policy. Instants
// compare within one process (in tests: within one synctest bubble); they are
// always greater than zero, so the zero value can mean "not read yet".
type Instant int64

// Now reads the monotonic clock.
func Now() Instant { return Instant(time.Since(start)) + origin }

// Add returns i moved by d; where that is beyond the end of time, the end.
func (i Instant) Add(d time.Duration) Instant {
	if d > 0 && i > math.MaxInt64-Instant(d) {
		return math.MaxInt64
	}
	return i + Instant(d)
}

// Sub returns the time from earlier to i.
func (i Instant) Sub(earlier Instant) time.Duration { return time.Duration(i - earlier) }

// Until returns the time from i to t, the longest duration where that does not
// fit. A t without a monotonic reading, such as one that was decoded from a
// message, is compared by the wall clock of now.
func (i Instant) Until(t time.Time) time.Duration {
	if t == t.Round(0) {
		left, passed := time.Until(t), Now().Sub(i)
		if passed > 0 && left > math.MaxInt64-passed { // "no deadline", said as one in the year 9999
			return math.MaxInt64
		}
		return left + passed
	}
	return t.Sub(start) - time.Duration(i-origin)
}

// Time returns the point in time that i stands for.
func (i Instant) Time() time.Time { return start.Add(time.Duration(i - origin)) }
