package middleware

import (
	"fmt"

	"github.com/backstay-go/backstay"
)

// HandlerPanicked says that a handler panicked, and what its caller was
// answered with in its place: Operation, Err, a [*PanicError], and Outcome.
const HandlerPanicked backstay.Kind = "handler panicked"

// PanicError says what a handler panicked with. It is for observers: its text
// is one line, and the stack stands beside it.
type PanicError struct {
	// Operation is the method, or the route, of the handler.
	Operation string
	// Value is what it panicked with.
	Value any
	// Stack is that of the handler's goroutine, as debug.Stack formats it.
	Stack []byte
}

// Error says which handler it was and what it panicked with, without the stack.
func (e *PanicError) Error() string {
	return fmt.Sprintf("the handler of %s panicked: %v", e.Operation, e.Value)
}

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Outcome is a fault: another attempt would meet the same bug.
func (e *PanicError) Outcome() backstay.Outcome { return backstay.Outcome{Class: backstay.Fault} }
