package backstay

import (
	"context"
	"errors"
	"time"
)

// Judged is implemented by errors that know how they are to be treated. Every
// error type of this module implements it where its class is not transient.
type Judged interface {
	error
	Outcome() Outcome
}

// Classify judges the error of an ordinary function: nil is a success, a
// [Judged] error anywhere in the chain decides for itself, anything that
// matches [ErrRejected] is rejected, context.Canceled is canceled, and
// everything else, context.DeadlineExceeded included, is transient.
// [PermanentError] and [RetryAfter] mark errors.
func Classify(err error) Outcome {
	if err == nil {
		return Outcome{}
	}
	if judged, ok := errors.AsType[Judged](err); ok {
		return judged.Outcome()
	}
	switch {
	case errors.Is(err, ErrRejected):
		return Outcome{Class: Rejected}
	case errors.Is(err, context.Canceled):
		return Outcome{Class: Canceled}
	default:
		return Outcome{Class: Transient}
	}
}

// PermanentError marks err as the caller's own mistake: not retried, and a success
// for the breaker. PermanentError(nil) is nil.
func PermanentError(err error) error { return Mark(err, Outcome{Class: Permanent}) }

// RetryAfter marks err as an overload that asks to be spared for d.
// RetryAfter(nil, d) is nil.
func RetryAfter(err error, d time.Duration) error {
	return Mark(err, Outcome{Class: Overload, RetryAfter: d})
}

// Mark attaches a judgement to err, which stays reachable through Unwrap.
// Mark(nil, o) is nil.
func Mark(err error, o Outcome) error {
	if err == nil {
		return nil
	}
	return &markedError{err: err, outcome: o}
}

type markedError struct {
	err     error
	outcome Outcome
}

func (e *markedError) Error() string    { return e.err.Error() }
func (e *markedError) Unwrap() error    { return e.err }
func (e *markedError) Outcome() Outcome { return e.outcome }
