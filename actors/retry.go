package actors

import (
	"context"
	"errors"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/retry"
)

// Retry makes a method's error a failed attempt: the method runs again, no
// earlier than after that time, as often as the type's Retry.MaxAttempts
// allows. If after is 0, that is what err asks for, as [backstay.RetryAfter]
// and the errors of the module's clients do, or else the type's backoff.
// Without Retry an error is the call's result. Writes and tells since the last
// record are discarded either way.
//
// A panic is a failed attempt, too, and so is an error that a method returns
// after its context has ended: it says what the method was doing when its time
// was up, and nothing about the request. Registered errors ([RegisterError])
// and those of callees always are results.
func Retry(err error, after time.Duration) error { return &retryError{err: err, after: after} }

type retryError struct {
	err   error
	after time.Duration
}

func (e *retryError) Error() string { return "retry: " + e.err.Error() }
func (e *retryError) Unwrap() error { return e.err }

// wait is how long the next attempt waits at least.
func (e *retryError) wait() time.Duration {
	if e.after > 0 {
		return e.after
	}
	return backstay.Classify(e.err).RetryAfter
}

// ended turns a method's error into the end of its attempt. ctx is that of the
// method.
func (i *invocation) ended(ctx context.Context, err error) runtime.End {
	if again, ok := errors.AsType[*retryError](err); ok {
		return runtime.End{Retry: &runtime.Retry{Reason: again.err.Error(), Code: codeOf(again.err), After: again.wait()}}
	}
	if ctx.Err() != nil && !i.attempt.Interrupted() && !definite(err) {
		return runtime.End{Retry: &runtime.Retry{Reason: "its time was up: " + err.Error()}}
	}
	return result(err)
}

// definite reports whether an error says something about the request, whenever
// it is returned.
func definite(err error) bool {
	_, travelled := errors.AsType[*Error](err)
	return travelled || registry.codeOf(err) != ""
}

// result makes an error the result of the call.
func result(err error) runtime.End { return runtime.End{Outcome: record.End, Result: failed(err)} }

// again marks the context of a later attempt: what it calls is told that it is
// a retry, and is not retried in turn, because layers that retry multiply.
func again(ctx context.Context, a *runtime.Attempt) context.Context {
	if n := a.Number(); n > 1 {
		return retry.Suppress(retry.WithAttempt(ctx, int(min(n, 1<<31-1))))
	}
	return ctx
}
