package backstay

import "context"

// Call is one way to get an answer R to a request Q. Policies wrap a Call and
// are themselves called through one, so that they nest as plain functions.
type Call[Q, R any] func(ctx context.Context, q Q) (R, error)

// Exchange is how one protocol repeats and judges requests. middleware/httpmw
// and middleware/grpcmw implement it; [Plain] serves ordinary functions.
// An Exchange may be used by several goroutines at once.
type Exchange[Q, R any] interface {
	// Repeat returns nil if q may be sent again after an attempt that ended
	// in o, and otherwise the reason why not: its method, its body, a missing
	// idempotency key.
	Repeat(q Q, o Outcome) error
	// Fork makes the request of another attempt or hedged copy: body rewound,
	// a fresh reply message. attempt counts from 1. q stays as it is.
	Fork(q Q, attempt int) (Q, error)
	// Classify judges what an attempt returned.
	Classify(r R, err error) Outcome
	// Bind ties c to the life of r: c is cancelled once r is used up, at once
	// if r is complete already.
	Bind(r R, c Canceler) R
	// Discard frees an answer that nobody will see.
	Discard(r R)
}

// Canceler is what an answer holds for as long as it is used: the context of
// its attempt, a permit. It is an interface because a method value of the thing
// itself would be allocated for every call.
type Canceler interface {
	// Cancel frees it. It may be called again, and from several goroutines.
	Cancel()
}

// CancelFunc is a function as a [Canceler].
type CancelFunc func()

// Cancel calls f.
func (f CancelFunc) Cancel() { f() }

// Judge classifies what an attempt under ctx returned. Where ctx itself is
// done, an error means that the caller gave up, whatever the error looks like:
// protocols cannot tell a caller's deadline from a slow network by the error.
func Judge[Q, R any](ctx context.Context, x Exchange[Q, R], r R, err error) Outcome {
	if err == nil {
		return x.Classify(r, nil)
	}
	return judgeError(ctx, x.Classify(r, err))
}

// judgeError is apart so that Judge is small enough to be inlined.
func judgeError(ctx context.Context, o Outcome) Outcome {
	if o.Class != Rejected && ctx.Err() != nil {
		return Outcome{Class: Canceled}
	}
	return o
}

// Plain is the Exchange of ordinary functions: every call may be repeated,
// errors are judged by [Classify], and an answer is complete when the function
// returns.
type Plain[T any] struct{}

// Repeat allows every repetition: whoever wraps a function in a retry says
// that it may run more than once.
func (Plain[T]) Repeat(struct{}, Outcome) error { return nil }

// Fork returns q.
func (Plain[T]) Fork(q struct{}, _ int) (struct{}, error) { return q, nil }

// Classify judges err alone, by the function [Classify].
func (Plain[T]) Classify(_ T, err error) Outcome { return Classify(err) }

// Bind cancels c at once.
func (Plain[T]) Bind(r T, c Canceler) T {
	c.Cancel()
	return r
}

// Discard does nothing.
func (Plain[T]) Discard(T) {}
