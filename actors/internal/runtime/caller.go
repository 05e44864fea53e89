package runtime

import (
	"errors"
	"math"
	"sync"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// caller waits for one answer. Several may wait for the same.
type caller struct {
	clients *clients
	id      record.ID
	to      journal.Partition
	due     backstay.Instant // when to ask again
	wait    time.Duration
	next    *caller

	mu     sync.Mutex
	call   record.ClientRequest
	read   *record.Read // nil: it is a call
	copies int          // that were sent
	out    int          // hands that it is in: the log's, for each copy until that is acknowledged, a sweep's
	over   bool         // it has its outcome, or does not want one any more
	answer chan outcome // holds one

	first sending
	acked func(journal.Place, error) // first.done, made once
}

// outcome is the end of a call, as its caller gets it.
type outcome struct {
	result record.Result
	err    error
}

// sending is a copy of a request on its way.
type sending struct {
	*caller
	until int64
}

func newCaller(s *clients) *caller {
	c := &caller{clients: s, answer: make(chan outcome, 1)}
	c.first.caller = c
	c.acked = c.first.done
	return c
}

// encode makes the next copy of the request, and what is told how it went.
func (c *caller) encode(until int64) (data []byte, acked func(journal.Place, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out++
	c.copies++
	if c.read != nil {
		until = math.MaxInt64
		data = encode(c.read)
	} else {
		c.call.Until = until
		data = encode(&c.call)
	}
	if c.copies == 1 {
		c.first.until = until
		return data, c.acked
	}
	return data, (&sending{c, until}).done
}

// done takes the acknowledgement: it tells the log's time, and whether the copy
// was in time by it.
func (c *sending) done(p journal.Place, err error) {
	defer c.letGo()
	s := c.clients
	switch {
	case err == nil:
		s.node.clock.hear(p.At)
		if p.At <= c.until {
			return
		}
	case errors.Is(err, journal.ErrClosed):
		c.end(outcome{err: ErrStopped})
		return
	case final(err):
		c.end(outcome{err: err})
		return
	}
	s.mu.Lock()
	c.due = backstay.Now()
	s.mu.Unlock()
}

// end gives the caller its outcome, if it wants one.
func (c *caller) end(o outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.over = true
		c.answer <- o
	}
}

// hold keeps the caller from being used again, until it is let go.
func (c *caller) hold() {
	c.mu.Lock()
	c.out++
	c.mu.Unlock()
}

func (c *caller) letGo() {
	c.mu.Lock()
	c.out--
	c.mu.Unlock()
}

// leave says that nobody waits any more: whoever comes late sees that. It
// reports whether nobody can come, and the caller is as new, to be used again.
func (c *caller) leave() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.answer: // it went for another reason
	default:
	}
	if c.out > 0 {
		c.over = true
		return false
	}
	c.next, c.call, c.read, c.copies, c.over = nil, record.ClientRequest{}, nil, 0, false
	return true
}
