package deadline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay"
)

// ErrTooLate is matched, through errors.Is, by every refusal to begin work
// that could not end in time.
var ErrTooLate = errors.New("deadline: too late")

// TooLateError is a refusal made before anything was sent: what is left of the
// caller's deadline is less than the work needs. It matches [ErrTooLate],
// [backstay.ErrRejected] and context.DeadlineExceeded.
type TooLateError struct {
	// Name says which policy refused; empty outside a pipeline.
	Name string
	// Remaining is what was left; zero or negative where the deadline had
	// passed already.
	Remaining time.Duration
	// Need is what the work was estimated to take, or the configured minimum.
	Need time.Duration
}

// Error says who refused, what was left and what was needed.
func (e *TooLateError) Error() string {
	who := "deadline"
	if e.Name != "" {
		who += " " + e.Name
	}
	if e.Remaining <= 0 {
		return fmt.Sprintf("%s: too late: the caller's deadline passed %v ago; nothing was begun", who, -e.Remaining)
	}
	return fmt.Sprintf("%s: too late: %v left, %v needed; nothing was begun", who, e.Remaining, e.Need)
}

// Is matches [ErrTooLate], [backstay.ErrRejected] and context.DeadlineExceeded.
func (e *TooLateError) Is(target error) bool {
	return target == ErrTooLate || target == backstay.ErrRejected || target == context.DeadlineExceeded
}

// Timeout reports true, as net.Error asks of errors about time.
func (e *TooLateError) Timeout() bool { return true }

// Outcome is a rejection.
func (e *TooLateError) Outcome() backstay.Outcome {
	return backstay.Outcome{Class: backstay.Rejected}
}
