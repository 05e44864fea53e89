package actors

import (
	"errors"
	"fmt"

	"github.com/backstay-go/backstay/actors/journal"
)

// What a call can end with beside the method's own answer. The errors of calls
// match them.
var (
	// ErrExpired: the request's deadline passed before it had begun. Nothing it
	// did is here: if it ran at all, then in part, in a process that failed, and
	// with Settings.StrictBegin not even that.
	ErrExpired = errors.New("actors: expired before it began")
	// ErrCancelled: the caller's attempt is gone, or its context has ended and the
	// call was [Cancellable], and the request had not begun.
	ErrCancelled = errors.New("actors: cancelled before it began")
	// ErrMailboxFull: as many requests as its type allows wait for the actor.
	// The method did not run.
	ErrMailboxFull = errors.New("actors: mailbox full")
	// ErrPoison: the method, or one of the tail calls that followed, failed as
	// often as its type allows: the error's Detail says which, how often, and with
	// what. It is not tried again; a dead letter has the request. What the last
	// attempt failed with matches too, if it is registered.
	ErrPoison = errors.New("actors: given up after too many failed attempts")
	// ErrDeadlock: a call waited for its type's BusyTimeout behind one and the
	// same other request of its actor. Its method did not run.
	ErrDeadlock = errors.New("actors: waits for an actor that is busy")
	// ErrNoMethod: no process that hosts the type has the method.
	ErrNoMethod = permanent("actors: no such method")
	// ErrNoType: there is no log for the type.
	ErrNoType = journal.ErrNoType
	// ErrTooLarge: an argument is larger than 900 KiB, encoded, or than the log
	// takes; or what a step writes, tells, publishes and calls from one record to
	// the next is; or the answer to a call from outside is larger than 64 KiB, since
	// it is kept. A step that ends with it is not retried, and what it meant to write
	// is not there.
	ErrTooLarge = permanent("actors: too large")
	// ErrTooDeep: calls nest too deep.
	ErrTooDeep = permanent("actors: calls nest too deep")
	// ErrBusy: the actor must not be changed now, since a callback runs on it:
	// a goroutine of the method did not wait for the one that awaits. Or its
	// activate function, which must not call, did.
	ErrBusy = permanent("actors: another method is on the actor")
	// ErrNotCompleted: nobody completed a deferred reply in time.
	ErrNotCompleted = permanent("actors: the deferred reply was not completed")
	// ErrPending: [Method.Result] was asked for a request that has not ended. The
	// error's Detail says what it waits for, as far as the actor's owner can see.
	ErrPending = errors.New("actors: accepted, and not ended yet")
	// ErrUnknownKey: [Method.Result] was asked for a request that was not accepted
	// yet, or that ended so long ago that its answer is forgotten.
	ErrUnknownKey = permanent("actors: no request with this key is known")
	// ErrUnanswered: the caller stopped waiting. The request may have run, may
	// be running, or may run yet. A node that hosts something knows the others,
	// and says in the error's Detail if nobody hosts the type. What the method itself
	// has waited for its observer is told, and who asks for the [Method.Result].
	ErrUnanswered = errors.New("actors: no answer")
	// ErrOver: a method's Self, or its context, was used after the method had
	// returned, or after its process had lost the actor.
	ErrOver = permanent("actors: the invocation is over")
	// ErrNoNode: the context is neither that of a method nor one of
	// [Node.Context].
	ErrNoNode = permanent("actors: the context belongs to no node: use Node.Context")
	// ErrStopped: the node was stopped.
	ErrStopped = errors.New("actors: the node is stopped")
)

// CallError is an error of the runtime: which call ended so, and why.
type CallError struct {
	// Actor and Method are what was called.
	Actor, Method string
	// Detail says more, for people: how long it waited, how often it was tried,
	// the chain of actors that wait for each other.
	Detail string
	// Err is one of this package's sentinels, or what cut the wait short.
	Err error

	last error // that the last attempt failed with, if it is registered
}

// Error says who, why and what next.
func (e *CallError) Error() string {
	text := fmt.Sprintf("%s.%s: %v", clipped(e.Actor), e.Method, e.Err)
	if e.Detail != "" {
		text += " (" + e.Detail + ")"
	}
	return text
}

// Unwrap returns the reason.
func (e *CallError) Unwrap() error { return e.Err }

// Error is the error that an actor's method returned, as it came over the log.
// It matches the error that was registered for its code.
type Error struct {
	// Code is that of [RegisterError]; empty if the error was not registered.
	Code string
	// Message is what the error said.
	Message string
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Is reports whether target is the error registered for e's code.
func (e *Error) Is(target error) bool {
	if e.Code == "" {
		return false
	}
	registered := registry.byCode(e.Code)
	return registered != nil && errors.Is(registered, target)
}
