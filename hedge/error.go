package hedge

import (
	"context"
	"fmt"

	"github.com/backstay-go/backstay"
)

// ErrLost is the cause, by context.Cause, of the end of a copy's context when
// the race was decided without that copy. It matches context.Canceled and is
// neither success nor failure to those who judge it.
var ErrLost error = lostError{}

type lostError struct{}

func (lostError) Error() string { return "hedge: another copy decided the race" }

// Is matches context.Canceled: to the callee, the caller gave up.
func (lostError) Is(target error) bool { return target == context.Canceled }

// Outcome is canceled: a lost race says nothing of the backend.
func (lostError) Outcome() backstay.Outcome { return backstay.Outcome{Class: backstay.Canceled} }

// PanicError tells observers of a later copy that panicked, or that called
// runtime.Goexit, on its own goroutine. While the call waits, the same happens
// on the caller's goroutine, with the value itself; the stack of the copy is
// only found here, as the Err of its [backstay.HedgeDone] event. A panic after
// the call has returned, or of a gate or a shared budget, is told as a
// [backstay.CallbackPanicked] event.
type PanicError struct {
	// Copy is the number of the copy.
	Copy int
	// Value is what it panicked with; nil if it called runtime.Goexit.
	Value any
	// Stack is the copy's stack, as debug.Stack formats it.
	Stack []byte
}

// Error says which copy it was and what it panicked with, without the stack.
func (e *PanicError) Error() string {
	if e.Value == nil {
		return fmt.Sprintf("hedge: copy %d called runtime.Goexit", e.Copy)
	}
	return fmt.Sprintf("hedge: copy %d panicked: %v", e.Copy, e.Value)
}

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Outcome is a fault: another attempt would meet the same bug.
func (e *PanicError) Outcome() backstay.Outcome { return backstay.Outcome{Class: backstay.Fault} }
