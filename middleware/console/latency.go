package console

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
)

const (
	// mantissa is how many bits of a duration after its first one count: an
	// eighth of a doubling is a bucket, so that an answer is within 6 % of the
	// truth.
	mantissa = 3
	// turn is how long a generation is added to.
	turn = 30 * time.Second
	// quickest and slowest bound what is told apart.
	quickest = 64 * time.Microsecond
	slowest  = 64 * time.Second
)

var (
	lowest  = code(quickest)
	buckets = code(slowest) - lowest + 1
)

// latencies is a histogram of the calls of the last 30 to 60 seconds: two
// generations take turns, and the older is cleared when its turn comes again.
// What is added during a change of turns may be lost: it is a few of many.
type latencies [2]generation

type generation struct {
	turn    atomic.Uint32
	buckets []atomic.Uint32
}

// percentiles are those of the latest calls.
type percentiles struct{ p50, p95, p99 time.Duration }

func newLatencies() *latencies {
	all := make([]atomic.Uint32, 2*buckets)
	return &latencies{{buckets: all[:buckets]}, {buckets: all[buckets:]}}
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
	low := uint64(code&(1<<mantissa-1)|1<<mantissa) << octave
	return time.Duration((low + 1<<octave/2) >> mantissa)
}

func turnOf(at backstay.Instant) uint32 { return uint32(at / backstay.Instant(turn)) }

// add counts a call that took d and ended at the time at.
func (l *latencies) add(at backstay.Instant, d time.Duration) {
	n := turnOf(at)
	g := &l[n%2]
	if was := g.turn.Load(); was != n {
		if was > n {
			return
		}
		if g.turn.CompareAndSwap(was, n) {
			g.clear()
		}
	}
	g.buckets[min(max(code(d)-lowest, 0), buckets-1)].Add(1)
}

func (g *generation) clear() {
	for i := range g.buckets {
		g.buckets[i].Store(0)
	}
}

// percentiles returns those of the calls that ended lately; ok is false where
// there were none.
func (l *latencies) percentiles(now backstay.Instant) (p percentiles, ok bool) {
	if l == nil {
		return p, false
	}
	counts, total := l.counts(turnOf(now))
	if total == 0 {
		return p, false
	}
	return percentiles{rank(counts, total, 0.50), rank(counts, total, 0.95), rank(counts, total, 0.99)}, true
}

// counts adds up the generations of turn n and of the one before.
func (l *latencies) counts(n uint32) (counts []uint32, total uint64) {
	counts = make([]uint32, buckets)
	for i := range l {
		g := &l[i]
		if at := g.turn.Load(); at != n && at != n-1 {
			continue
		}
		for b := range counts {
			c := g.buckets[b].Load()
			counts[b] += c
			total += uint64(c)
		}
	}
	return counts, total
}

// rank returns the duration that a share of all calls did not exceed.
func rank(counts []uint32, total uint64, share float64) time.Duration {
	left := uint64(math.Ceil(share * float64(total)))
	for b, n := range counts {
		if uint64(n) >= left {
			return middle(lowest + b)
		}
		left -= uint64(n)
	}
	return slowest
}
