package bulkhead

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
)

// Bulkhead bounds how many calls are in flight at once. It is safe for
// concurrent use; a nil *Bulkhead admits everything and counts nothing.
type Bulkhead struct {
	plan     atomic.Pointer[plan] // replaced by SetLimit only
	scope    *backstay.Scope
	inFlight atomic.Int64 // weight of the permits given out
	more     *more        // nil where counting is enough
}

// more is what a bulkhead needs that does more than count.
type more struct {
	queue    queue
	adaptive *adaptive // nil: fixed limit
	rate     *rater    // nil: no rate
}

// Option gives a Bulkhead a collaborator.
type Option func(*Bulkhead)

// WithScope names the bulkhead in events and errors, and says who is told.
func WithScope(s *backstay.Scope) Option { return func(b *Bulkhead) { b.scope = s } }

// New returns a Bulkhead, or every fault of the configuration.
func New(c Config, options ...Option) (*Bulkhead, error) {
	if err := c.Validate(); err != nil {
		return nil, backstay.Under("bulkhead", err)
	}
	return build(c, options), nil
}

// build makes a Bulkhead of a configuration that is known to be valid.
func build(c Config, options []Option) *Bulkhead {
	b := newBulkhead(makePlan(c), nil)
	for _, o := range options {
		o(b)
	}
	return b
}

// Clone returns a Bulkhead of the same configuration with nothing in flight,
// for another target. It costs 32 bytes where the limit is fixed and nobody
// waits. The clone of a nil Bulkhead is nil.
func (b *Bulkhead) Clone(scope *backstay.Scope) *Bulkhead {
	if b == nil {
		return nil
	}
	return newBulkhead(b.plan.Load(), scope)
}

func newBulkhead(p *plan, scope *backstay.Scope) *Bulkhead {
	b := &Bulkhead{scope: scope}
	b.plan.Store(p)
	if p.maxQueue > 0 || p.adaptive != nil || p.rate != nil {
		b.more = &more{adaptive: newAdaptive(p), rate: newRater(p.rate)}
	}
	return b
}

// InFlight returns the weight of all permits that are given out.
func (b *Bulkhead) InFlight() int64 {
	if b == nil {
		return 0
	}
	return b.inFlight.Load()
}

// Queued returns how many calls wait.
func (b *Bulkhead) Queued() int64 {
	if b == nil || b.more == nil {
		return 0
	}
	return b.more.queue.waiting.Load()
}

// Limit returns the limit in force, [Unlimited] if there is none.
func (b *Bulkhead) Limit() int64 {
	if b == nil {
		return Unlimited
	}
	p := b.plan.Load()
	if p.unlimited {
		return Unlimited
	}
	return b.limit(p)
}

// Saturated reports whether a call of [Default] priority would now have to
// wait or be refused. It does not look at the rate.
func (b *Bulkhead) Saturated() bool {
	if b == nil {
		return false
	}
	p := b.plan.Load()
	return b.Queued() > 0 || b.InFlight() >= p.ceiling(b.limit(p), defaultRank)
}

// SetLimit changes the limit of this bulkhead, and of none of its clones.
// Calls in flight stay: after a cut, permits are given out again once enough
// have come back; waiters that have become too heavy are refused. limit is
// written as in [Config]. It is an error where the limit is adaptive, or where
// there is no bulkhead.
func (b *Bulkhead) SetLimit(limit int64) error {
	if b == nil {
		return errNone
	}
	old := b.plan.Load()
	err := backstay.Check(limitSetting(limit), backstay.Setting{
		Path: "limit", Value: limit,
		Valid:   old.adaptive == nil,
		Allowed: "must not be set by hand where it is adaptive",
	})
	if err != nil {
		return backstay.Under("bulkhead", err)
	}
	changed := *old
	changed.setLimit(limit)
	b.plan.Store(&changed)
	if b.more != nil {
		b.wake()
	}
	return nil
}

// errNone is the error of setting the limit of a nil *Bulkhead.
var errNone = errors.New("bulkhead: there is none whose limit could be set")

// limit returns the limit in force as a number.
func (b *Bulkhead) limit(p *plan) int64 {
	if p.adaptive != nil {
		return b.more.adaptive.limit.Load()
	}
	return p.limit
}

// enter gets a permit for a call, waiting for it where that is allowed. If it
// did wait, began is set to the moment after, so that what is measured from
// there on is the call and not the queue.
func (b *Bulkhead) enter(ctx context.Context, p *plan, weight int64, r rank, began *backstay.Instant) error {
	if ctx.Err() != nil {
		return backstay.ContextError(ctx)
	}
	if !b.try(p, weight, r) {
		if err := b.wait(ctx, p, weight, r, began); err != nil {
			return err
		}
	}
	if !p.clocked {
		return nil
	}
	if after, ok := b.start(p, began); !ok {
		b.release(weight)
		return b.refuse(ctx, FullError{Reason: backstay.ReasonRateLimited, RetryAfter: after, Weight: weight}, r)
	}
	return nil
}

// start notes when a call with a permit starts, unless began knows already,
// and asks whether the rate allows it. It is asked last, so that no call that
// is not sent spends any of it: a reservation given back in a crowd is lost.
func (b *Bulkhead) start(p *plan, began *backstay.Instant) (after time.Duration, ok bool) {
	if *began == 0 {
		*began = backstay.Now()
	}
	if p.rate == nil {
		return 0, true
	}
	return b.more.rate.spend(*began)
}
