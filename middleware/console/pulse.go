package console

import (
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
)

// measure is something that is counted over time.
type measure uint8

const (
	calls     measure = iota // that ended, refused ones included
	failed                   // calls that ended in a failure of the backend
	refused                  // calls that were not sent at all
	retries                  // further attempts
	copies                   // hedged copies
	wins                     // hedged copies that answered first
	fallbacks                // calls that a fallback answered
	faults                   // faults that were injected on purpose
	measures
)

const (
	// step is the width of a bar of the page's small charts.
	step = 2 * time.Second
	// steps is how many of them there are.
	steps = 30
	// recent is over how many steps a rate is taken.
	recent = 5
)

// pulse counts what happens in steps of time. It remembers the step that is
// going on and those before it. Each count is one word, its step in the upper
// half, so that counting is exact without a lock. The zero value is ready.
type pulse struct {
	latest [measures]atomic.Uint32 // the last step that was counted in, or one before
	counts [measures][steps + 1]atomic.Uint64
}

// Bars is how often something happened in each of the latest whole steps, the
// oldest first.
type Bars [steps]uint32

// stepOf numbers the steps of time.
func stepOf(at backstay.Instant) uint32 { return uint32(at / backstay.Instant(step)) }

// add counts one m at the time at.
func (p *pulse) add(m measure, at backstay.Instant) {
	n := stepOf(at)
	w := &p.counts[m][n%(steps+1)]
	for {
		was := w.Load()
		is := uint64(n)<<32 | 1
		switch in := stepIn(was); {
		case in == n:
			is = was + 1
		case in > n:
			return // it comes a whole round late
		default:
			p.latest[m].Store(n)
		}
		if w.CompareAndSwap(was, is) {
			return
		}
	}
}

func stepIn(word uint64) uint32 { return uint32(word >> 32) }

// bars returns the counts of m in the whole steps before now.
func (p *pulse) bars(m measure, now backstay.Instant) (b Bars) {
	first := stepOf(now) - steps
	if p.latest[m].Load()+1 < first { // one step of leave for those who come late
		return b
	}
	for i := range b {
		n := first + uint32(i)
		if w := p.counts[m][n%(steps+1)].Load(); stepIn(w) == n {
			b[i] = uint32(w)
		}
	}
	return b
}

// lately sums the latest steps, over which rates are taken.
func (b *Bars) lately() (sum uint64) {
	for _, n := range b[steps-recent:] {
		sum += uint64(n)
	}
	return sum
}

// rate returns how often a second it happened lately.
func (b *Bars) rate() float64 { return float64(b.lately()) / (recent * step.Seconds()) }

// sum returns how often it happened in all steps.
func (b *Bars) sum() (sum uint64) {
	for _, n := range b {
		sum += uint64(n)
	}
	return sum
}
