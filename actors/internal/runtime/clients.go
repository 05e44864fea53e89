package runtime

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// clients are the roots of this process that wait for an answer.
type clients struct {
	node *Node
	gone chan struct{} // closed: no answer comes any more

	mu      sync.Mutex
	waiting map[record.ID]*caller
	count   int
	idle    []*caller // to be used again
	closed  bool
	shut    atomic.Bool
	timer   *time.Timer    // looks for those that must ask again
	sweeps  sync.WaitGroup // of timer
	armed   bool
}

// ask sends a request, and again from time to time, until the answer is there.
// Copies are void, and fetch the answer if it was lost. c is spent afterwards.
func (n *Node) ask(ctx context.Context, c *caller) (record.Result, error) {
	now := backstay.Now()
	defer n.clients.remove(c)
	if !n.clients.add(c, now) {
		return record.Result{}, ErrStopped
	}
	if owner := n.places.owner(c.to); owner != nil && owner.hold() {
		n.clients.sendTo(owner, c, now)
	} else {
		n.clients.send(c, now)
	}
	gone := ctx.Done()
	if gone == nil { // as a select would, without its cost
		o := <-c.answer
		return o.result, o.err
	}
	select {
	case o := <-c.answer:
		return o.result, o.err
	case <-gone:
		return record.Result{}, backstay.ContextError(ctx)
	}
}

// sendTo appends the request of a caller to a partition that is owned here, and
// is held, and helps it on: also if the log panics, since others count on that.
func (s *clients) sendTo(owner *incarnation, c *caller, now backstay.Instant) {
	defer owner.helped()
	s.send(c, now)
}

// send appends the request of a caller.
func (s *clients) send(c *caller, now backstay.Instant) {
	data, acked := c.encode(s.node.clock.at(now) + s.node.config.Window.Milliseconds())
	s.node.log.Append(c.to, data, acked)
}

// sweepEvery is how finely the time to ask again is kept.
func (s *clients) sweepEvery() time.Duration { return max(s.node.config.Resend/8, time.Millisecond) }

func (s *clients) add(c *caller, now backstay.Instant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	c.wait = s.node.config.Resend
	c.due = now.Add(jitter(c.wait))
	c.next = s.waiting[c.id]
	s.waiting[c.id] = c
	s.count++
	s.arm()
	return true
}

// caller is one that does not wait yet. It is given back by remove.
func (s *clients) caller() *caller {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.idle) - 1
	if last < 0 {
		return newCaller(s)
	}
	c := s.idle[last]
	s.idle = s.idle[:last]
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
	now := backstay.Now()
	var again []*caller
	s.mu.Lock()
	s.armed = false
	for _, c := range s.waiting {
		for ; c != nil; c = c.next {
			if now < c.due {
				continue
			}
			c.wait = min(c.wait*3/2, 10*s.node.config.Resend)
			c.due = now.Add(jitter(c.wait))
			c.hold()
			again = append(again, c)
		}
	}
	if s.count > 0 {
		s.arm()
	}
	s.mu.Unlock()
	for _, c := range again {
		s.send(c, now)
		c.letGo()
	}
}

func (s *clients) remove(c *caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unlink(c)
	if c.leave() && len(s.idle) < spare {
		s.idle = append(s.idle, c)
	}
}

// unlink takes a caller off those that wait, if it is among them. mu is held.
func (s *clients) unlink(c *caller) {
	first := s.waiting[c.id]
	switch {
	case first == nil:
		return
	case first != c:
		for p := first; p.next != nil; p = p.next {
			if p.next == c {
				p.next = c.next
				s.count--
				return
			}
		}
		return
	case c.next == nil:
		delete(s.waiting, c.id)
	default:
		s.waiting[c.id] = c.next
	}
	s.count--
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
	for _, c := range s.waiting {
		for ; c != nil; c = c.next {
			c.end(outcome{err: ErrStopped})
		}
	}
	if s.armed && s.timer.Stop() {
		s.armed = false
		s.sweeps.Done()
	}
	s.mu.Unlock()
	close(s.gone)
	s.sweeps.Wait()
}
