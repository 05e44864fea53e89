package retry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/backstay-go/backstay"
)

// ErrExhausted is matched, through errors.Is, by every [ExhaustedError].
var ErrExhausted = errors.New("retry: gave up")

// ExhaustedError says that a call was given up: its attempts were used up, the
// next wait did not fit, or the budget paid for no other attempt. It keeps the error of the last attempt, which
// errors.Is and errors.As find, and whose class it has for policies above.
type ExhaustedError struct {
	// Name says whose policy it was; empty outside a pipeline.
	Name string
	// Attempts is how many were made.
	Attempts int
	// Elapsed is the time from the start of the call, or, for [Run] without a
	// budget, from the end of the first attempt.
	Elapsed time.Duration
	// Reason is [backstay.ReasonExhausted], [backstay.ReasonNoTime] or
	// [backstay.ReasonBudgetEmpty].
	Reason backstay.Reason
	// Wait is the wait that did not fit, with [backstay.ReasonNoTime].
	Wait time.Duration
	// Last is the error of the last attempt.
	Last error
}

// Error reads, for example, "retry payments: gave up after 3 attempts in
// 412ms: connection refused".
func (e *ExhaustedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: gave up after %s in %v", who(e.Name), count(e.Attempts), e.Elapsed.Round(time.Microsecond))
	switch e.Reason {
	case backstay.ReasonNoTime:
		fmt.Fprintf(&b, " because a wait of %v does not fit", e.Wait)
	case backstay.ReasonBudgetEmpty:
		b.WriteString(" because the retry budget is empty")
	default:
	}
	fmt.Fprintf(&b, ": %v", e.Last)
	return b.String()
}

// Unwrap returns the error of the last attempt.
func (e *ExhaustedError) Unwrap() error { return e.Last }

// Is matches [ErrExhausted].
func (e *ExhaustedError) Is(target error) bool { return target == ErrExhausted }

// Timeout reports whether the last attempt timed out, as url.Error asks.
func (e *ExhaustedError) Timeout() bool { return timedOut(e.Last) }

// RefusedError says that a call failed, and that its next attempt was refused
// on our side before it was sent: the breaker opened in between, say. errors.Is
// and errors.As find both, but for [backstay.ErrRejected]: something was sent.
type RefusedError struct {
	// Name says whose policy it was; empty outside a pipeline.
	Name string
	// Attempts is how many were sent.
	Attempts int
	// Refusal is the error of the attempt that was not sent.
	Refusal error
	// Last is the last error of those that were; nil if all gave answers.
	Last error

	outcome backstay.Outcome
}

// Error reads, for example, "retry payments: refused after 1 attempt: breaker
// payments: open; the last failure: connection refused".
func (e *RefusedError) Error() string {
	s := fmt.Sprintf("%s: refused after %s: %v", who(e.Name), count(e.Attempts), e.Refusal)
	if e.Last != nil {
		s += fmt.Sprintf("; the last failure: %v", e.Last)
	}
	return s
}

// Unwrap returns the last failure and the refusal.
func (e *RefusedError) Unwrap() []error {
	if e.Last == nil {
		return []error{notAloneError{e.Refusal}}
	}
	return []error{e.Last, notAloneError{e.Refusal}}
}

// Outcome is that of the last attempt that was sent, and final.
func (e *RefusedError) Outcome() backstay.Outcome { return e.outcome }

// notAloneError is a refusal that does not say that nothing was sent.
type notAloneError struct{ refusal error }

func (e notAloneError) Error() string { return e.refusal.Error() }

func (e notAloneError) Is(target error) bool {
	return target != backstay.ErrRejected && errors.Is(e.refusal, target)
}

func (e notAloneError) As(target any) bool { return errors.As(e.refusal, target) }

// canceledError says that the caller gave up after at least one attempt had
// failed. It matches the context's error, its cancel cause, and the failure.
type canceledError struct {
	name     string
	attempts int
	cause    error // the context's error and its cause
	during   error // of the attempt that was cut; nil if it was a wait
	last     error // the last one before; nil if all attempts gave answers
}

func (e *canceledError) Error() string {
	s := fmt.Sprintf("%s: %v after %s", who(e.name), e.cause, count(e.attempts))
	if e.last != nil {
		s += fmt.Sprintf("; the last failure: %v", e.last)
	}
	return s
}

func (e *canceledError) Unwrap() []error {
	all := []error{e.cause}
	for _, err := range []error{e.during, e.last} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// Outcome is canceled, whatever the last failure was.
func (e *canceledError) Outcome() backstay.Outcome {
	return backstay.Outcome{Class: backstay.Canceled}
}

// Timeout reports whether the caller's deadline passed.
func (e *canceledError) Timeout() bool { return errors.Is(e.cause, context.DeadlineExceeded) }

// forkError says that the request of another attempt could not be made.
type forkError struct {
	name    string
	attempt int
	fork    error
	last    error            // the last one before; nil if all attempts gave answers
	outcome backstay.Outcome // of the attempt before
}

func (e *forkError) Error() string {
	s := fmt.Sprintf("%s: attempt %d could not be made: %v", who(e.name), e.attempt, e.fork)
	if e.last != nil {
		s += fmt.Sprintf("; the last failure: %v", e.last)
	}
	return s
}

func (e *forkError) Unwrap() []error {
	if e.last == nil {
		return []error{e.fork}
	}
	return []error{e.last, e.fork}
}

// Outcome is that of the attempt that was to be repeated.
func (e *forkError) Outcome() backstay.Outcome { return e.outcome }

func who(name string) string {
	if name == "" {
		return "retry"
	}
	return "retry " + name
}

func count(attempts int) string {
	if attempts == 1 {
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", attempts)
}

// timedOut reports whether err says of itself that it is a timeout.
func timedOut(err error) bool {
	t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && t.Timeout()
}
