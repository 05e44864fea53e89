package window

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
)

// Rolling counts the outcomes of a stretch of time that ends now: the bucket
// that is being filled and the buckets before it. With n buckets over a span it
// looks back between (n-1)/n of the span and the whole of it. It may be used by
// several goroutines at once, with readings of the clock that are a little out
// of order.
type Rolling struct {
	width   int64 // nanoseconds a bucket
	streak  streak
	turning sync.Mutex // held while a bucket is emptied for its next period
	buckets []bucket
}

// bucket holds the calls of one period; periods are numbered by the clock.
type bucket struct {
	period atomic.Int64
	// callsAndFailures holds calls in its upper and failures in its lower
	// half, so that one addition counts both.
	callsAndFailures atomic.Uint64
	slow             atomic.Uint32
}

// noPeriod stamps a bucket that is being emptied. Real periods are positive or,
// in the first bucket's time, 0; hence a new bucket gets it too.
const noPeriod = -1

// NewRolling makes a window of span, at least a nanosecond a bucket, in a
// number of buckets, at least 1.
func NewRolling(span time.Duration, buckets int) *Rolling {
	r := &Rolling{width: int64(span) / int64(buckets), buckets: make([]bucket, buckets)}
	for i := range r.buckets {
		r.buckets[i].period.Store(noPeriod)
	}
	return r
}

// Add counts a call that ended at now.
func (r *Rolling) Add(now backstay.Instant, failed, slow bool) {
	r.streak.add(failed)
	period := int64(now) / r.width
	b := &r.buckets[period%int64(len(r.buckets))]
	if b.period.Load() != period && !r.turn(b, period) {
		return // so late that its bucket already serves another period
	}
	one := uint64(1) << 32
	if failed {
		one++
	}
	b.callsAndFailures.Add(one)
	if slow {
		b.slow.Add(1)
	}
}

// turn empties b for period, unless somebody did it before. It reports whether
// b serves period now.
func (r *Rolling) turn(b *bucket, period int64) bool {
	r.turning.Lock()
	defer r.turning.Unlock()
	if b.period.Load() < period {
		b.period.Store(noPeriod) // whoever reads meanwhile leaves it out
		b.callsAndFailures.Store(0)
		b.slow.Store(0)
		b.period.Store(period)
	}
	return b.period.Load() == period
}

// Counts counts the calls in the window that ends at now.
func (r *Rolling) Counts(now backstay.Instant) Counts {
	c := Counts{Consecutive: r.streak.count()}
	oldest := max(int64(now)/r.width-int64(len(r.buckets))+1, 0)
	for i := range r.buckets {
		b := &r.buckets[i]
		period := b.period.Load()
		if period < oldest {
			continue
		}
		slow, both := b.slow.Load(), b.callsAndFailures.Load() // in this order slow never exceeds calls
		if b.period.Load() != period {
			continue // emptied while we read
		}
		c.Calls += int(both >> 32)
		c.Failures += int(uint32(both))
		c.Slow += int(slow)
	}
	return c
}
