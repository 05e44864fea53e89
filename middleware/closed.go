package middleware

import (
	"errors"

	"github.com/backstay-go/backstay"
)

// ErrClosed is matched, through errors.Is, by the refusal of a call to a
// pipeline, or a registry, that has been closed.
var ErrClosed = errors.New("middleware: pipeline is closed")

// ClosedError is that refusal. It matches [ErrClosed] and
// [backstay.ErrRejected].
type ClosedError struct {
	// Name is the pipeline's.
	Name string
}

// Error says which pipeline refused.
func (e *ClosedError) Error() string {
	return "middleware: pipeline " + e.Name + " is closed; nothing was sent"
}

// Is matches [ErrClosed] and [backstay.ErrRejected].
func (e *ClosedError) Is(target error) bool {
	return target == ErrClosed || target == backstay.ErrRejected
}

// Outcome is a rejection.
func (e *ClosedError) Outcome() backstay.Outcome {
	return backstay.Outcome{Class: backstay.Rejected}
}
