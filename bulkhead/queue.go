package bulkhead

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
)

// A queue is where calls wait for a permit. Calls that need not wait never
// take its lock: they see by waiting that nobody is in front of them.
//
// It is our own, and not x/sync's Weighted, because that one can neither be
// asked how much is in flight, nor resized, nor ordered, nor be told a longest
// wait without a context of its own for every waiter.
type queue struct {
	// waiting is the length of the line and, for as long as it holds the
	// lock, the one who is joining.
	waiting atomic.Int64
	mu      sync.Mutex
	line    line
	timer   *time.Timer // for the oldest waiter; nil where nobody's wait ends
}

// wait gets a permit for a call that did not get one at once.
func (b *Bulkhead) wait(ctx context.Context, p *plan, weight int64, r rank, began *backstay.Instant) error {
	if p.maxQueue == 0 {
		return b.refuse(ctx, FullError{Weight: weight}, r)
	}
	if p.rate != nil { // no use in waiting for a refusal
		if after, ok := b.more.rate.peek(backstay.Now()); !ok {
			return b.refuse(ctx, FullError{Reason: backstay.ReasonRateLimited, RetryAfter: after, Weight: weight}, r)
		}
	}
	w, v := b.join(weight, r)
	if w != nil {
		v = b.await(ctx, w)
		*began = backstay.Now()
	}
	switch v {
	case admitted:
		if ctx.Err() == nil {
			return nil
		}
		b.release(weight) // it came together with the end of ctx
		return b.abandon(ctx, weight, r)
	case waiting:
		return b.abandon(ctx, weight, r)
	case expired:
		return b.refuse(ctx, FullError{Weight: weight, Err: errWaitedOut}, r)
	case shed:
		return b.refuse(ctx, FullError{Weight: weight, Err: errShed}, r)
	default:
		return b.refuse(ctx, FullError{Weight: weight}, r)
	}
}

// join puts a call into the queue. The waiter is nil if the verdict is known
// without a wait.
func (b *Bulkhead) join(weight int64, r rank) (*waiter, verdict) {
	q := &b.more.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting.Add(1) // from here on, whoever makes room looks for us
	defer q.tidy()
	b.serve()
	p := b.plan.Load()
	ceiling := p.ceiling(b.limit(p), r)
	if weight > ceiling {
		return nil, full
	}
	if q.line.goesFirst(r) && b.take(weight, ceiling) {
		return nil, admitted
	}
	if q.line.length == p.maxQueue {
		least := q.line.leastBelow(r)
		if least == nil {
			return nil, full
		}
		q.settle(least, shed)
	}
	w := &waiter{ready: make(chan struct{}), weight: weight, rank: r}
	if p.maxWait > 0 {
		w.until = backstay.Now().Add(p.maxWait)
	}
	q.line.join(w)
	if p.maxWait > 0 && q.timer == nil {
		q.timer = time.AfterFunc(p.maxWait, b.expire)
	}
	return w, waiting
}

// await waits for w's verdict and returns it; waiting means that ctx ended
// first and w has left the queue without one.
func (b *Bulkhead) await(ctx context.Context, w *waiter) verdict {
	select {
	case <-w.ready:
		return w.verdict
	case <-ctx.Done():
	}
	q := &b.more.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.verdict == waiting {
		q.line.leave(w)
		b.serve() // it may have been in the way of lighter ones
		q.tidy()
	}
	return w.verdict
}

// overtake gets a permit at once, though others wait, if none of them is to be
// served before a call of rank r.
func (b *Bulkhead) overtake(weight int64, r rank, ceiling int64) bool {
	q := &b.more.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.line.goesFirst(r) && b.take(weight, ceiling)
}

// wake gives out the permits that have become free, if anybody waits for one.
func (b *Bulkhead) wake() {
	q := &b.more.queue
	if q.waiting.Load() == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	b.serve()
	q.tidy()
}

// serve, under the lock, admits waiters from the head of the line until one does not fit.
// Those behind it wait even if they would fit: a heavy call would starve.
func (b *Bulkhead) serve() {
	q, p := &b.more.queue, b.plan.Load()
	limit := b.limit(p)
	for w := q.line.head(); w != nil; w = q.line.head() {
		ceiling := p.ceiling(limit, w.rank)
		switch {
		case w.weight > ceiling: // the limit has shrunk below it
			q.settle(w, full)
		case b.take(w.weight, ceiling):
			q.settle(w, admitted)
		default:
			return
		}
	}
}

// expire ends the waits that are over. It is the timer's function.
func (b *Bulkhead) expire() {
	q := &b.more.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	now := backstay.Now()
	for w := q.line.oldest(); w != nil && w.until <= now; w = q.line.oldest() {
		q.settle(w, expired)
	}
	b.serve()
	q.stop()
	if w := q.line.oldest(); w != nil {
		q.timer = time.AfterFunc(w.until.Sub(now), b.expire)
	}
	q.tidy()
}

// settle takes w out of the line and tells it why. One that is admitted holds
// its permit from here on, whether or not it still wants it. Whoever is told
// does not count as waiting any more.
func (q *queue) settle(w *waiter, v verdict) {
	q.line.leave(w)
	q.waiting.Add(-1)
	w.verdict = v
	close(w.ready)
}

// tidy makes known how many wait, and leaves no timer behind when nobody does.
func (q *queue) tidy() {
	q.waiting.Store(q.line.length)
	if q.line.length == 0 {
		q.stop()
	}
}

func (q *queue) stop() {
	if q.timer != nil {
		q.timer.Stop()
		q.timer = nil
	}
}
