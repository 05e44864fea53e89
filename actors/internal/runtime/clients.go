package runtime

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// clients are the roots of this process that wait for an answer.
type clients struct {
	node *Node
	gone chan struct{} // closed: no answer comes any more

	mu       sync.Mutex
	waiting  map[record.ID]*caller
	count    int
	channels []chan outcome // to be used again
	closed   bool
	shut     atomic.Bool
	timer    *time.Timer    // looks for those that must ask again
	sweeps   sync.WaitGroup // of timer
	armed    bool
}

// caller waits for one answer. Several may wait for the same.
type caller struct {
	clients *clients
	id      record.ID
	to      journal.Partition
	due     time.Time // when to ask again
	wait    time.Duration
	next    *caller

	mu     sync.Mutex
	call   *record.ClientRequest // one of the two
	read   *record.Read
	over   bool         // it has its outcome, or does not want one any more
	answer chan outcome // holds one
}

// outcome is the end of a call, as its caller gets it.
type outcome struct {
	result record.Result
	err    error
}

// ask sends a request, and again from time to time, until the answer is there.
// Copies are void, and fetch the answer if it was lost.
func (n *Node) ask(ctx context.Context, c *caller) (record.Result, error) {
	c.clients = &n.clients
	now := time.Now()
	if !n.clients.add(c, now) {
		return record.Result{}, ErrStopped
	}
	defer n.clients.remove(c)
	if owner := n.places.owner(c.to); owner != nil && owner.hold() {
		n.clients.send(c, now)
		owner.helped()
	} else {
		n.clients.send(c, now)
	}
	select {
	case o := <-c.answer:
		return o.result, o.err
	case <-ctx.Done():
		return record.Result{}, backstay.ContextError(ctx)
	case <-n.clients.gone:
		return record.Result{}, ErrStopped
	}
}

// sending is a copy of a request on its way.
type sending struct {
	*caller
	until int64
}

// send appends the request of a caller.
func (s *clients) send(c *caller, now time.Time) {
	data, until := c.encode(s.node.clock.at(now) + s.node.config.Window.Milliseconds())
	s.node.log.Append(c.to, data, sending{c, until}.done)
}

// encode makes the next copy of the request.
func (c *caller) encode(until int64) (data []byte, void int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read != nil {
		return encode(c.read), math.MaxInt64
	}
	c.call.Until = until
	return encode(c.call), until
}

// done takes the acknowledgement: it tells the log's time, and whether the copy
// was in time by it.
func (c sending) done(p journal.Place, err error) {
	s := c.clients
	switch {
	case err == nil:
		s.node.clock.sample(p.At, time.Now())
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
	c.due = time.Now()
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

// leave says that the caller is gone: its channel can be used again, since
// whoever comes late sees that.
func (c *caller) leave() chan outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	select {
	case <-c.answer: // it went for another reason
	default:
	}
	return c.answer
}

// sweepEvery is how finely the time to ask again is kept.
func (s *clients) sweepEvery() time.Duration { return max(s.node.config.Resend/8, time.Millisecond) }

func (s *clients) add(c *caller, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	c.answer = s.channel()
	c.wait = s.node.config.Resend
	c.due = now.Add(jitter(c.wait))
	c.next = s.waiting[c.id]
	s.waiting[c.id] = c
	s.count++
	s.arm()
	return true
}

// channel is one for an answer. mu is held.
func (s *clients) channel() chan outcome {
	n := len(s.channels)
	if n == 0 {
		return make(chan outcome, 1)
	}
	c := s.channels[n-1]
	s.channels = s.channels[:n-1]
	return c
}

// arm starts the timer, unless it runs: it is let run on between calls, since
// starting it costs more than a call. mu is held.
func (s *clients) arm() {
	if s.armed || s.closed {
		return
	}
	s.armed = true
	s.sweeps.Add(1)
	s.timer = time.AfterFunc(s.sweepEvery(), func() {
		defer s.sweeps.Done()
		s.sweep()
	})
}

// sweep sends the requests of those again that have waited for long.
func (s *clients) sweep() {
	now := time.Now()
	var again []*caller
	s.mu.Lock()
	s.armed = false
	for _, c := range s.waiting {
		for ; c != nil; c = c.next {
			if now.Before(c.due) {
				continue
			}
			c.wait = min(c.wait*3/2, 10*s.node.config.Resend)
			c.due = now.Add(jitter(c.wait))
			again = append(again, c)
		}
	}
	if s.count > 0 {
		s.arm()
	}
	s.mu.Unlock()
	for _, c := range again {
		s.send(c, now)
	}
}

func (s *clients) remove(c *caller) {
	answer := c.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count--
	if len(s.channels) < spare {
		s.channels = append(s.channels, answer)
	}
	first := s.waiting[c.id]
	if first == c {
		if c.next == nil {
			delete(s.waiting, c.id)
		} else {
			s.waiting[c.id] = c.next
		}
		return
	}
	for p := first; p != nil; p = p.next {
		if p.next == c {
			p.next = c.next
		}
	}
}

// deliver hands an answer to all who wait for it.
func (s *clients) deliver(id record.ID, result record.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := s.waiting[id]; c != nil; c = c.next {
		c.end(outcome{result: result})
	}
}

// refuse takes no new requests.
func (s *clients) refuse() { s.shut.Store(true) }

func (s *clients) refused() bool { return s.shut.Load() }

// close ends those that wait.
func (s *clients) close() {
	s.mu.Lock()
	s.closed = true
	if s.armed && s.timer.Stop() {
		s.armed = false
		s.sweeps.Done()
	}
	s.mu.Unlock()
	close(s.gone)
	s.sweeps.Wait()
}
