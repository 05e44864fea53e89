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
	// sent is the number of the latest attempt that was sent, where loud.
	sent atomic.Int32
}

// count notes that attempt number n was sent. A late copy of an earlier one
// changes nothing.
func (c *call[Q, R]) count(n int32) {
	for {
		latest := c.sent.Load()
		if n <= latest || c.sent.CompareAndSwap(latest, n) {
			return
		}
	}
}
