package timeout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay"
)

// ErrTimeout is matched, through errors.Is, by every [Error].
var ErrTimeout = errors.New("timeout: attempt took too long")

// Error says that one attempt reached its limit. It is not the caller's
// deadline: that stays context.DeadlineExceeded alone. Error matches
// [ErrTimeout] and context.DeadlineExceeded, and reports Timeout() true.
type Error struct {
	// Name says whose limit it was; empty outside a pipeline.
	Name string
	// After is the limit.
	After time.Duration
	// Err is what the attempt returned once it was cancelled; nil if it
	// returned an answer, too late, or was abandoned.
	Err error
}

// Error says whose limit was reached and what the attempt said to it.
func (e *Error) Error() string {
	who := "timeout"
	if e.Name != "" {
		who += " " + e.Name
	}
	if e.Err == nil || errors.Is(e.Err, context.DeadlineExceeded) {
		return fmt.Sprintf("%s: no answer within %v", who, e.After)
	}
	return fmt.Sprintf("%s: no answer within %v: %v", who, e.After, e.Err)
}

// Unwrap returns what the attempt returned.
func (e *Error) Unwrap() error { return e.Err }

// Is matches [ErrTimeout] and context.DeadlineExceeded.
func (e *Error) Is(target error) bool {
	return target == ErrTimeout || target == context.DeadlineExceeded
}

// Timeout reports true, as net.Error asks.
func (e *Error) Timeout() bool { return true }

// Temporary reports true: another attempt may be quicker. It completes net.Error.
func (e *Error) Temporary() bool { return true }

// Outcome is transient: a slow attempt is worth another.
func (e *Error) Outcome() backstay.Outcome {
	return backstay.Outcome{Class: backstay.Transient}
}
