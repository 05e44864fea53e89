package actors

import (
	"errors"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// Retry makes a method's error a failed attempt: the method runs again, no
// earlier than after that time, or after its type's backoff if after is 0, as
// often as the type's Retry.MaxAttempts allows. Without it an error is the
// call's result. Writes and tells since the last record are discarded either
// way. A panic is a failed attempt, too.
func Retry(err error, after time.Duration) error { return &retryError{err: err, after: after} }

type retryError struct {
	err   error
	after time.Duration
}

func (e *retryError) Error() string { return "retry: " + e.err.Error() }
func (e *retryError) Unwrap() error { return e.err }

// ended turns a method's error into the end of its attempt.
func ended(err error) runtime.End {
	if again, ok := errors.AsType[*retryError](err); ok {
		return runtime.End{Retry: &runtime.Retry{Reason: again.err.Error(), After: again.after}}
	}
	return runtime.End{Outcome: record.End, Result: failed(err)}
}
