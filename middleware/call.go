package middleware

import (
	"sync/atomic"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
)

// call is one call on its way through a pipeline: what its attempts share. The
// function that they call is not in it: it would escape together with exchange,
// whose methods the compiler cannot see through.
type call[Q, R any] struct {
	pipeline *Pipeline
	version  *version // the one in force when the call began
	ladder   *fallback.Ladder[Q, R]
	exchange backstay.Exchange[Q, R]
	began    backstay.Instant
	// loud is true where somebody is told: a report, an observer, a tracer.
	loud bool
	// sent is the number of the latest attempt that was sent, where loud; its
	// complement once the call is accounted for.
	sent atomic.Int32
}

// count notes that attempt number n is sent, and reports whether it may be: not
// when the call is accounted for, whose caller has left while the attempt was on
// its way on a goroutine of its own. A late copy of an earlier one changes nothing.
func (c *call[Q, R]) count(n int32) bool {
	for {
		latest := c.sent.Load()
		switch {
		case latest < 0:
			return false
		case n <= latest, c.sent.CompareAndSwap(latest, n):
			return true
		}
	}
}

// account returns how many attempts were sent; there will be no more.
func (c *call[Q, R]) account() int {
	for {
		latest := c.sent.Load()
		if c.sent.CompareAndSwap(latest, ^latest) {
			return int(latest)
		}
	}
}
