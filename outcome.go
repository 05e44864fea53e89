package backstay

import "time"

// Class is the kind of end an attempt came to. It decides whether another
// attempt makes sense and what the circuit breaker counts.
type Class uint8

const (
	// Success is an answer the caller can use. Not retried; a success for the breaker.
	Success Class = iota
	// Transient is a failure of the backend that another attempt may mend.
	// Retried where the request may be repeated; a failure for the breaker.
	Transient
	// Overload is a transient failure that asks to be spared. Retried only
	// after the server's wait, if it named one; a failure for the breaker.
	Overload
	// Fault is a failure of the backend that another attempt will not mend.
	// Not retried; a failure for the breaker.
	Fault
	// Permanent is the caller's own mistake: the backend works and refuses.
	// Not retried; a success for the breaker.
	Permanent
	// Canceled says that the caller gave up, by cancelling or by its deadline.
	// Not retried; neutral for the breaker (which looks at deadlines itself).
	Canceled
	// Rejected is a refusal of our own, made before anything was sent: breaker
	// open, bulkhead full, too late, pipeline closed. Never retried by the
	// pipeline that made it; neutral for the breaker.
	Rejected
)

var classNames = [...]string{
	Success:   "success",
	Transient: "transient",
	Overload:  "overload",
	Fault:     "fault",
	Permanent: "permanent",
	Canceled:  "canceled",
	Rejected:  "rejected",
}

// String returns the class as it appears in telemetry, for example "overload".
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "unknown"
}

// Failure reports whether the class speaks against the backend's health:
// transient, overload and fault do.
func (c Class) Failure() bool { return c == Transient || c == Overload || c == Fault }

// Retryable reports whether another attempt may mend an end of this class.
func (c Class) Retryable() bool { return c == Transient || c == Overload }

// Outcome is how one attempt ended, as an [Exchange] judges it.
// The zero value is a success.
type Outcome struct {
	// Class decides retry and breaker.
	Class Class
	// Marks are what is known beside it.
	Marks
	// RetryAfter is the wait that the server asked for; 0 means none.
	RetryAfter time.Duration
}

// Marks are the marks of an [Outcome]. They are a struct of their own because
// the compiler keeps a struct of more than four fields in memory, which costs
// every policy that hands an Outcome on.
type Marks struct {
	// Unsent is true where the request is known not to have reached the
	// server, so that it may be repeated whatever its method.
	Unsent bool
	// Final is true where the server, or a layer below, asked that the
	// request not be retried ("do not retry").
	Final bool
	// Pushback is true where RetryAfter is to be kept exactly, without
	// jitter, and restarts the backoff series (gRPC pushback).
	Pushback bool
}
