package bulkhead

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/backstay-go/backstay"
)

// ErrFull is matched, through errors.Is, by every [FullError].
var ErrFull = errors.New("bulkhead: full")

// Why a call lost its place in the queue; the caller's deadline is the third.
var (
	errWaitedOut = errors.New("the longest wait is over")
	errShed      = errors.New("shed for a call of higher priority")
)

// FullError says that a call was refused because too many are in flight or,
// with [backstay.ReasonRateLimited], started too shortly before. Nothing was
// sent. It matches [ErrFull] and [backstay.ErrRejected].
type FullError struct {
	// Name says whose limit it was; empty outside a pipeline.
	Name string
	// Reason is bulkhead_full or rate_limited.
	Reason backstay.Reason
	// RetryAfter is when the rate allows another call; 0 means unknown.
	RetryAfter time.Duration
	// Weight is what the call asked for; Limit is the most that a call of
	// its priority could have, [Unlimited] if there is no limit. InFlight and
	// Queued is what was there at the moment of the refusal.
	Weight, Limit, InFlight, Queued int64
	// Err says why the call lost its place in the queue, nil if it never had
	// one. It is context.DeadlineExceeded where the caller's own deadline
	// passed there.
	Err error
}

// Error says, for example, "bulkhead payments: full: 64 of 64 in flight, 10 queued".
func (e *FullError) Error() string {
	var b strings.Builder
	b.WriteString("bulkhead")
	if e.Name != "" {
		b.WriteString(" " + e.Name)
	}
	switch {
	case e.Reason == backstay.ReasonRateLimited:
		fmt.Fprintf(&b, ": too many calls per second: next one in %v", e.RetryAfter)
	case e.Limit != Unlimited && e.Weight > e.Limit:
		fmt.Fprintf(&b, ": a call of weight %d never fits into a limit of %d", e.Weight, e.Limit)
	default:
		fmt.Fprintf(&b, ": full: %d of %d in flight, %d queued", e.InFlight, e.Limit, e.Queued)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap returns why the call lost its place in the queue.
func (e *FullError) Unwrap() error { return e.Err }

// Is matches [ErrFull] and [backstay.ErrRejected].
func (e *FullError) Is(target error) bool {
	return target == ErrFull || target == backstay.ErrRejected
}

// Outcome is a rejection. RetryAfter is when our own rate allows another call.
func (e *FullError) Outcome() backstay.Outcome {
	return backstay.Outcome{Class: backstay.Rejected, RetryAfter: e.RetryAfter}
}

// refuse makes the error of a refused call and tells of it.
func (b *Bulkhead) refuse(ctx context.Context, e FullError, r rank) error {
	plan := b.plan.Load()
	e.Name = b.scope.Name()
	if e.Limit = plan.ceiling(b.limit(plan), r); plan.unlimited {
		e.Limit = Unlimited
	}
	e.InFlight, e.Queued = b.InFlight(), b.Queued()
	if e.Reason == "" {
		e.Reason = backstay.ReasonBulkheadFull
	}
	b.scope.Emit(ctx, backstay.Event{
		Kind:    backstay.CallRejected,
		Outcome: e.Outcome(), Err: &e,
		Reason: e.Reason, Wait: e.RetryAfter,
	})
	backstay.Note(ctx, func(s *backstay.Summary) { s.Reason = e.Reason })
	return &e
}

// abandon makes the error of a caller that was gone before it had a permit. A
// deadline that passed in the queue is a refusal: with more room it would not
// have. A cancelled caller gets its own cancellation back.
func (b *Bulkhead) abandon(ctx context.Context, weight int64, r rank) error {
	err := backstay.ContextError(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return b.refuse(ctx, FullError{Weight: weight, Err: err}, r)
	}
	return err
}
