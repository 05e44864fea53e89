package bulkhead

import (
	"context"
	"sync/atomic"

	"github.com/backstay-go/backstay"
)

// Permit is the right to have one call in flight, for those who cannot put the
// call into a function: see [Bulkhead.Acquire]. The zero Permit is valid and
// holds nothing.
type Permit struct {
	bulkhead *Bulkhead
	weight   int64
	began    backstay.Instant // 0 where the clock was not needed
}

// Acquire gets a permit of the given weight (below 1 counts as 1), waiting for
// it if the configuration says so. The priority is that of ctx. The error is a
// [FullError], or that of ctx if ctx is done.
func (b *Bulkhead) Acquire(ctx context.Context, weight int64) (Permit, error) {
	if b == nil {
		return Permit{}, nil
	}
	p := b.plan.Load()
	weight = max(1, weight)
	r := p.rank(ctx)
	var began backstay.Instant
	if err := b.enter(ctx, p, weight, r, &began); err != nil {
		return Permit{}, err
	}
	return Permit{bulkhead: b, weight: weight, began: began}, nil
}

// TryAcquire gets a permit if that is possible at once, and otherwise tells
// nobody. As it does not wait, it asks ctx for the priority only, not whether
// it is done.
func (b *Bulkhead) TryAcquire(ctx context.Context, weight int64) (permit Permit, ok bool) {
	if b == nil {
		return Permit{}, true
	}
	p := b.plan.Load()
	weight = max(1, weight)
	r := p.rank(ctx)
	if !b.try(p, weight, r) {
		return Permit{}, false
	}
	var began backstay.Instant
	if p.clocked {
		if _, ok := b.start(p, &began); !ok {
			b.release(weight)
			return Permit{}, false
		}
	}
	return Permit{bulkhead: b, weight: weight, began: began}, true
}

// Release gives the permit back and, where the limit is adaptive, tells it how
// the call ended: a success or a permanent error counts with its latency, an
// overload as a sign of congestion (report a timeout as one), the rest not at
// all. A second Release of the same Permit does nothing; a copy is another
// Permit, and must not be released too.
func (p *Permit) Release(o backstay.Outcome) {
	b := p.bulkhead
	if b == nil {
		return
	}
	p.bulkhead = nil
	if b.plan.Load().adaptive != nil {
		b.sample(context.Background(), p.began, o, nil)
	}
	b.release(p.weight)
}

// try gets a permit if that is possible at once and nobody is passed over.
//
// It adds first and looks afterwards, because that scales with cores: a
// compare-and-swap repeats itself under contention. For the few nanoseconds
// until it has taken its weight back, a call that came too late can make
// another one come too late; the look before keeps that rare, and the release
// wakes waiters whom it may have kept out.
func (b *Bulkhead) try(p *plan, weight int64, r rank) bool {
	ceiling := p.ceiling(b.limit(p), r)
	if b.more != nil && b.more.queue.waiting.Load() > 0 {
		return b.overtake(weight, r, ceiling)
	}
	if !fits(b.inFlight.Load(), weight, ceiling) {
		return false
	}
	if b.inFlight.Add(weight) <= ceiling {
		return true
	}
	b.release(weight)
	return false
}

// take is try under the lock of the queue, where nobody can be woken: so it
// must not have too much even for a moment.
func (b *Bulkhead) take(weight, ceiling int64) bool {
	for {
		taken := b.inFlight.Load()
		if !fits(taken, weight, ceiling) {
			return false
		}
		if b.inFlight.CompareAndSwap(taken, taken+weight) {
			return true
		}
	}
}

// fits cannot overflow, whatever the weight.
func fits(inFlight, weight, ceiling int64) bool { return inFlight <= ceiling-weight }

// release gives weight back. Whoever makes room looks for waiters, and whoever
// waits has made itself known before it looks for room: one of them sees the
// other.
func (b *Bulkhead) release(weight int64) {
	b.inFlight.Add(-weight)
	if b.more != nil {
		b.wake()
	}
}

// releaser returns a function that gives weight back once, however often it is
// called, from whichever goroutine.
func (b *Bulkhead) releaser(weight int64) backstay.CancelFunc {
	var done atomic.Bool
	return func() {
		if done.CompareAndSwap(false, true) {
			b.release(weight)
		}
	}
}
