package idempotency

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/backstay-go/backstay"
)

// What can be wrong. Every error that this package returns for one of these
// reasons is an [*Error] that matches it through errors.Is; stores may return
// ErrStoreFull and ErrLeaseLost as they are.
var (
	// ErrKeyMissing says that a key is required and none came. 400, permanent.
	ErrKeyMissing error = &kind{"a key is required and none was sent",
		"send one, the same on every repetition", http.StatusBadRequest, backstay.Permanent}
	// ErrKeyInvalid says that a key cannot be used. 400, permanent.
	ErrKeyInvalid error = &kind{"the key is invalid",
		"send 1 to 255 characters of printable ASCII, once", http.StatusBadRequest, backstay.Permanent}
	// ErrMismatch says that the key came before, with another payload. 422,
	// permanent.
	ErrMismatch error = &kind{"the key was used for another request",
		"use a new key for a new request", http.StatusUnprocessableEntity, backstay.Permanent}
	// ErrInFlight says that a request with the key is being worked on. 409 with
	// Retry-After, transient: it does not match [backstay.ErrRejected], because
	// the work may well take effect.
	ErrInFlight error = &kind{"a request with the key is still being worked on",
		"come back with the same key", http.StatusConflict, backstay.Transient}
	// ErrLeaseLost says that the key has passed, or may have passed, to another
	// owner, so that this one must not go on. 409 with Retry-After, transient.
	ErrLeaseLost error = &kind{"the lease on the key was lost",
		"come back with the same key for the answer of whoever holds it", http.StatusConflict, backstay.Transient}
	// ErrAnswerNotKept says that the work was done, but its answer was too
	// large to keep. 409 without Retry-After, permanent: the work is not
	// repeated, and its answer cannot be.
	ErrAnswerNotKept error = &kind{"the work was done, but its answer was not kept",
		"look up its result, or raise max_answer", http.StatusConflict, backstay.Permanent}
	// ErrBodyTooLarge says that a body is too large to be kept in memory while
	// it is compared. 413, permanent.
	ErrBodyTooLarge error = &kind{"the body is too large for a request with a key",
		"send a smaller one, or raise max_body", http.StatusRequestEntityTooLarge, backstay.Permanent}
	// ErrStoreFull says that the store has no room for another key. 503 with
	// Retry-After, rejected: nothing was begun.
	ErrStoreFull error = &kind{"the store is full",
		"raise its bounds, or keep records for a shorter time", http.StatusServiceUnavailable, backstay.Rejected}
	// ErrStoreFailed says that the store could not be asked, so that nothing
	// was begun. 503, transient.
	ErrStoreFailed error = &kind{"the store failed",
		"see to the store; the request may be sent again", http.StatusServiceUnavailable, backstay.Transient}
)

// kind is a sentinel that knows how it is to be treated.
type kind struct {
	why, next string
	status    int
	class     backstay.Class
}

func (k *kind) Error() string             { return "idempotency: " + k.why }
func (k *kind) Outcome() backstay.Outcome { return backstay.Outcome{Class: k.class} }
func (k *kind) Is(target error) bool {
	return target == backstay.ErrRejected && k.class == backstay.Rejected
}

// Error says which key of which guard was refused, why, and what to do next.
type Error struct {
	// Err is the reason: one of the Err... variables of this package.
	Err error
	// Name is the guard's name, from its scope; empty if it has none.
	Name string
	// Key is the key as it was sent.
	Key string
	// Detail says more about the reason; may be empty.
	Detail string
	// RetryAfter is the time after which to come back; 0 means that it is not
	// worth coming back, or that nothing is known.
	RetryAfter time.Duration
	// Cause is the error behind this one; may be nil.
	Cause error
}

// Error reads, for example, `idempotency payments: key "k1": the key was used
// for another request: use a new key for a new request`.
func (e *Error) Error() string {
	text := "idempotency"
	if e.Name != "" {
		text += " " + e.Name
	}
	if e.Key != "" {
		text += fmt.Sprintf(": key %.64q", e.Key) // it may be anything, of any length
	}
	known, next := e.kind()
	text += ": " + known
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	if next != "" {
		text += " (" + next + ")"
	}
	return text
}

// kind returns why the key was refused and what to do next.
func (e *Error) kind() (why, next string) {
	if k, ok := errors.AsType[*kind](e.Err); ok {
		return k.why, k.next
	}
	return fmt.Sprint(e.Err), ""
}

// Unwrap returns the reason and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Cause}
}

// Outcome is that of the reason, with RetryAfter.
func (e *Error) Outcome() backstay.Outcome {
	o := backstay.Classify(e.Err)
	o.RetryAfter = e.RetryAfter
	return o
}

// HTTPStatus is the status to answer with: that of the reason. Where
// RetryAfter is set, a Retry-After header belongs to it.
func (e *Error) HTTPStatus() int {
	if k, ok := errors.AsType[*kind](e.Err); ok {
		return k.status
	}
	return http.StatusInternalServerError
}

func invalidKey(key, detail string) error {
	return &Error{Err: ErrKeyInvalid, Key: key, Detail: detail}
}
