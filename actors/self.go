package actors

import (
	"context"
	"time"
)

// Self is an actor, as one of its running methods sees it. It is good until
// the method returns; then everything on it fails with [ErrOver]. A method may
// hand it to goroutines of its own, but must wait for them.
type Self[A any] struct{ *invocation }

// View is an actor, as a shared method sees it: as of one moment, read only.
type View[A any] struct{ reading }

// State is what values and maps read: a [Self] or a [View].
type State[A any] interface {
	// ID is the actor's id.
	ID() string
	cell(ctx context.Context, name string) ([]byte, bool, error)
	cells(ctx context.Context, prefix string) ([]cell, error)
	codec() Codec
}

// ID is the actor's id.
func (s Self[A]) ID() string { return s.attempt.Request().Target.Actor }

// Ref is the actor's own address. A call through it with the method's context
// is let in at once (reentrancy).
func (s Self[A]) Ref() Ref[A] {
	to := s.attempt.Request().Target
	return Ref[A]{Type: to.Type, ID: to.Actor}
}

// RequestID names the request: the same in all attempts and in all links of a
// chain of tail calls, for logs.
func (s Self[A]) RequestID() string { return s.attempt.Request().ID.String() }

// Attempt is the number of this attempt at the link, 1 for the first. Attempts
// that died unrecorded with their process are counted only from the second
// owner on.
func (s Self[A]) Attempt() int { return int(min(s.attempt.Number(), 1<<31-1)) }

// FencingToken grows with every change of the actor's owner. A store outside
// that remembers the highest it has seen and refuses smaller ones is safe from
// an owner that was paused and does not know that it was replaced.
func (s Self[A]) FencingToken() uint64 { return s.attempt.Epoch() }

// IdempotencyKey is the key for what the method does outside under that name:
// the same in every retry of this link, and another for every other request,
// link and name. Requests with the same key from outside are the same here,
// also when they run one after the other, further apart than answers are kept:
// see [IdempotencyKey].
//
//	ctx = idempotency.WithKey(ctx, self.IdempotencyKey("charge"))
func (s Self[A]) IdempotencyKey(name string) string { return s.attempt.Key(name) }

// Missed is the number of ticks of a periodic reminder that were not fired and
// that this one stands for; 0 for all other requests.
func (s Self[A]) Missed() int { return int(min(s.attempt.Request().Missed, 1<<31-1)) }

// Deadline is when the request had to begin by, zero if whenever. The method's
// own time is bounded by its context.
func (s Self[A]) Deadline() time.Time {
	at := s.attempt.Request().Deadline
	if at == 0 {
		return time.Time{}
	}
	return time.UnixMilli(at)
}

// Delete removes the actor's values, maps and reminders with this step. Its
// instance is dropped when the step is recorded; what is called next starts
// anew.
func (s Self[A]) Delete() error { return s.changed(s.attempt.Clear()) }

// Publish sends a message to an ordinary topic with this step: at least once, or
// exactly once where the log is configured so, never for a step that did not
// happen, and in the order of the steps of a partition of actors. Headers tell
// copies from messages: see [Message].
func (s Self[A]) Publish(m Message) error {
	if m.Topic == "" {
		return mistake("actors: a message needs a topic")
	}
	return own(s.attempt.Publish(m.posted()))
}

func (s Self[A]) codec() Codec { return s.node.codec }

func (s Self[A]) cell(ctx context.Context, name string) ([]byte, bool, error) {
	value, ok, err := s.attempt.Cell(ctx, name)
	return value, ok, own(err)
}

func (s Self[A]) cells(ctx context.Context, prefix string) ([]cell, error) {
	all, err := s.attempt.Cells(ctx, prefix)
	return all, own(err)
}
