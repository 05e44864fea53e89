package runtime

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
)

// clock estimates the log's time: that of this process, moved by the largest
// difference between append times and the local times at which they became
// known. What becomes known late makes the difference smaller, never larger,
// so the largest of the last while is the best estimate. Without append times
// it is the local clock.
//
// The local time is always that of an Instant, which goes by the monotonic
// clock: where the process's wall clock is set, or has gone on while the machine
// slept, the estimate does not move. One that took both would be wrong by the
// difference between the two, for good.
type clock struct {
	skew   func() time.Duration // of the local clock, in a simulation; nil: none
	offset atomic.Int64         // what is added to the local clock
	last   atomic.Int64         // the append time that was sampled last

	mu            sync.Mutex
	since         int64 // local time at which the present while began
	best, earlier int64 // of the present while, and of the one before
	known         bool
}

// clockWhile is how long a difference counts at least: a log's clock that was
// set back is followed within twice that.
const clockWhile = 10_000

// now is the log's time in milliseconds.
func (c *clock) now() int64 { return c.at(backstay.Now()) }

// at is the log's time at a local one.
func (c *clock) at(i backstay.Instant) int64 { return c.local(i) + c.offset.Load() }

// local is what the local clock shows, in milliseconds since 1970.
func (c *clock) local(i backstay.Instant) int64 {
	ms := i.Time().UnixMilli()
	if c.skew != nil {
		ms += c.skew().Milliseconds()
	}
	return ms
}

// hear takes an append time that becomes known now. The same one becomes known
// later the second time, and tells nothing: it costs no look at the clock.
func (c *clock) hear(at int64) {
	if at != c.last.Load() {
		c.sample(at, backstay.Now())
	}
}

// sample takes an append time that became known at a local time.
func (c *clock) sample(at int64, known backstay.Instant) {
	if at == 0 || at == c.last.Load() {
		return
	}
	c.last.Store(at)
	ms := c.local(known)
	c.mu.Lock()
	defer c.mu.Unlock()
	d := at - ms
	switch {
	case !c.known:
		c.known, c.since, c.best, c.earlier = true, ms, d, d
	case ms-c.since > clockWhile:
		c.since, c.earlier, c.best = ms, c.best, d
	default:
		c.best = max(c.best, d)
	}
	c.offset.Store(max(c.best, c.earlier))
}
