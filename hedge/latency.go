package hedge

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// latencies is a histogram of the latest successes, in buckets that are a
// sixteenth of a doubling wide: what it answers is within 3.2 % of the truth.
// Two generations take turns: the older is cleared when the younger is full,
// so that between span and 2 x span of the latest successes count. Adding is
// two atomic additions; asking is one load.
type latencies struct {
	delay   atomic.Int64  // the percentile; 0 while there are too few
	count   atomic.Int64  // all that were ever added
	young   atomic.Uint32 // which generation is added to: 0 or 1
	buckets []atomic.Uint32
}

// scale says how durations map to buckets. What is below the floor or above
// the ceiling need not be told apart, so the first and the last bucket hold
// the rest.
type scale struct {
	base       int // code of the floor
	buckets    int
	floor      time.Duration
	ceiling    time.Duration
	percentile float64
	minimum    int64
	span       int64 // successes a generation
}

const (
	// mantissa is how many bits of a duration after its first one count.
	mantissa = 4
	// renew is how many successes pass between two looks at the percentile.
	renew = 32
	// tail is how many successes beyond the percentile a generation must hold
	// for the percentile to be steady.
	tail = 20
	// minSpan is the smallest generation.
	minSpan = 512
)

func newScale(c Config) scale {
	base := code(c.Floor)
	steady := int64(math.Ceil(tail / (1 - c.Percentile)))
	return scale{
		base:       base,
		buckets:    code(c.Ceiling) - base + 2, // the last is for the ceiling and above
		floor:      c.Floor,
		ceiling:    c.Ceiling,
		percentile: c.Percentile,
		minimum:    int64(c.MinSamples),
		span:       max(minSpan, int64(c.MinSamples), min(steady, maxSamples)),
	}
}

func newLatencies(s scale) *latencies {
	return &latencies{buckets: make([]atomic.Uint32, 2*s.buckets)}
}

// code numbers durations on a scale that is logarithmic by octave and linear
// within one.
func code(d time.Duration) int {
	u := uint64(max(d, 1)) << mantissa
	octave := bits.Len64(u) - 1 - mantissa
	return octave<<mantissa | int(u>>octave)&(1<<mantissa-1)
}

// middle returns the middle of the durations that have the code.
func middle(code int) time.Duration {
	octave := code >> mantissa
	lowest := uint64(code&(1<<mantissa-1)|1<<mantissa) << octave
	return time.Duration((lowest + 1<<octave/2) >> mantissa)
}

// bucket returns where d is counted.
func (s *scale) bucket(d time.Duration) int {
	switch {
	case d <= s.floor:
		return 0
	case d >= s.ceiling:
		return s.buckets - 1
	default:
		return code(d) - s.base
	}
}

// value returns the duration that a bucket stands for.
func (s *scale) value(bucket int) time.Duration {
	if bucket == s.buckets-1 {
		return s.ceiling
	}
	return min(max(middle(s.base+bucket), s.floor), s.ceiling-1)
}

// percentile returns the percentile as of the last renewal, 0 while there are
// too few successes.
func (l *latencies) percentile() time.Duration { return time.Duration(l.delay.Load()) }

// add counts a success. What is added during a change of generations may be
// lost: it is one of hundreds.
func (l *latencies) add(s *scale, d time.Duration) {
	young := int(l.young.Load())
	l.buckets[young*s.buckets+s.bucket(d)].Add(1)
	n := l.count.Add(1)
	if n == s.minimum || (n > s.minimum && n%renew == 0) {
		l.delay.Store(int64(l.measure(s)))
	}
	if n%s.span == 0 {
		l.turn(s, 1-young)
	}
}

// measure returns the percentile, looking from the slow end, which is nearer.
func (l *latencies) measure(s *scale) time.Duration {
	var total int64
	for i := range l.buckets {
		total += int64(l.buckets[i].Load())
	}
	beyond := total - int64(math.Ceil(s.percentile*float64(total)))
	for b := s.buckets - 1; b > 0; b-- {
		beyond -= int64(l.buckets[b].Load()) + int64(l.buckets[s.buckets+b].Load())
		if beyond < 0 {
			return s.value(b)
		}
	}
	return s.value(0)
}

// turn clears the older generation and makes it the younger.
func (l *latencies) turn(s *scale, older int) {
	for b := range s.buckets {
		l.buckets[older*s.buckets+b].Store(0)
	}
	l.young.Store(uint32(older))
}
