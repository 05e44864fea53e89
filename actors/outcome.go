package actors

import (
	"context"
	"errors"
	"fmt"

	"github.com/backstay-go/backstay"
)

// outcomes says how the runtime's errors are to be treated by whoever does not
// know actors: a pipeline, a server that answers with them. What is not here is
// judged by what it wraps, or by what it is: see permanent.
var outcomes = []struct {
	err   error
	class backstay.Class
}{
	// The method did not run, and asking again at once, or with the same key,
	// would meet the same.
	{ErrExpired, backstay.Rejected},
	{ErrMailboxFull, backstay.Rejected},
	{ErrDeadlock, backstay.Rejected},

	{ErrPending, backstay.Transient}, // ask again

	{ErrCancelled, backstay.Canceled},
	{ErrPoison, backstay.Fault}, // it was tried often enough

	{ErrNoType, backstay.Permanent},
}

// permanent is an error that the same call meets whenever it is made again, also
// where it is not that of a call: of a value, a token, a context.
func permanent(text string) error { return backstay.PermanentError(errors.New(text)) }

// mistake is permanent, of what only the program can mend: an address, a key or
// an argument that no request can have.
func mistake(format string, args ...any) error {
	return backstay.PermanentError(fmt.Errorf(format, args...))
}

// Outcome judges the error for pipelines and servers: a method that did not run
// was rejected, one that was given up is a fault, and a call that nobody could
// answer is permanent. A wait that was cut short is judged by what cut it.
func (e *CallError) Outcome() backstay.Outcome {
	for _, o := range outcomes {
		if errors.Is(e.Err, o.err) {
			return backstay.Outcome{Class: o.class}
		}
	}
	return backstay.Classify(e.Err)
}

// Is matches context.DeadlineExceeded too where the request has expired, as the
// errors of package deadline do, and where it was given up what the last
// attempt failed with.
func (e *CallError) Is(target error) bool {
	if target == context.DeadlineExceeded {
		return errors.Is(e.Err, ErrExpired)
	}
	return e.last != nil && errors.Is(e.last, target)
}

// Outcome is permanent: the method has run, and said no.
func (e *Error) Outcome() backstay.Outcome { return backstay.Outcome{Class: backstay.Permanent} }
