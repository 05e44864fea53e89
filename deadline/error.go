package deadline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay"
)

// ErrExceeded is matched, through errors.Is, by every [Error].
var ErrExceeded = errors.New("deadline: call took too long")

// Error says that a call reached the bound that its policy put on it, which
// was earlier than the caller's own deadline. It matches [ErrExceeded] and
// context.DeadlineExceeded, and reports Timeout() true.
type Error struct {
	// Name says whose bound it was; empty outside a pipeline.
	Name string
	// Total is the bound.
	Total time.Duration
	// Err is the last that was heard of the call; nil if it returned an
	// answer, too late.
	Err error
}

// Error says whose bound was reached and what was heard last.
func (e *Error) Error() string {
	who := "deadline"
	if e.Name != "" {
		who += " " + e.Name
	}
	if e.Err == nil {
		return fmt.Sprintf("%s: the call did not end within %v", who, e.Total)
	}
	return fmt.Sprintf("%s: the call did not end within %v: %v", who, e.Total, e.Err)
}

// Unwrap returns what was heard last.
func (e *Error) Unwrap() error { return e.Err }

// Is matches [ErrExceeded] and context.DeadlineExceeded.
func (e *Error) Is(target error) bool {
	return target == ErrExceeded || target == context.DeadlineExceeded
}

// Timeout reports true, as net.Error asks.
func (e *Error) Timeout() bool { return true }

// Outcome is a fault: the backend failed to answer in time, and there is none
// left for another try. A fallback may still answer. Where the time passed in a
// queue of ours, before anything was sent, it is a rejection.
func (e *Error) Outcome() backstay.Outcome {
	if errors.Is(e.Err, backstay.ErrRejected) {
		return backstay.Outcome{Class: backstay.Rejected}
	}
	return backstay.Outcome{Class: backstay.Fault}
}
