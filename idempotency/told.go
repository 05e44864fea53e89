package idempotency

import (
	"errors"

	"github.com/backstay-go/backstay"
)

// told is what the sender of a key may be told of each refusal: nothing of
// who refused, of the store, or of its configuration.
var told = []struct {
	err    error
	reason backstay.Reason
	text   string
}{
	{ErrKeyMissing, ReasonKeyMissing, "A key is required: send one, the same on every repetition."},
	{ErrKeyInvalid, ReasonKeyInvalid, "The key is invalid: send 1 to 255 characters of printable ASCII, once."},
	{ErrMismatch, ReasonMismatch, "The key was used for another request: use a new key for a new request."},
	{ErrInFlight, ReasonInFlight, "A request with the key is still being worked on: come back with the same key."},
	{ErrLeaseLost, ReasonLeaseLost, "The work was interrupted: come back with the same key."},
	{ErrAnswerNotKept, ReasonAnswerNotKept, "The work was done, but its answer was not kept: look up its result."},
	{ErrBodyTooLarge, ReasonBodyTooLarge, "The body is too large for a request with a key: send a smaller one."},
	{ErrStoreFull, ReasonStoreFull, "No new key can be taken at the moment: nothing was begun."},
	{ErrStoreFailed, ReasonStoreFailed, "Keys cannot be looked up at the moment: nothing was begun."},
}

// Reason is the name of what [Error].Err says, as events have it; empty where
// that is none of the errors of this package.
func (e *Error) Reason() backstay.Reason {
	for _, t := range told {
		if errors.Is(e.Err, t.err) {
			return t.reason
		}
	}
	return ""
}

// Told is a sentence for whoever sent the key, the same for every refusal of
// its kind. What [Error.Error] says beyond it, the cause above all, is for the
// operator: it may name hosts.
func (e *Error) Told() string {
	for _, t := range told {
		if errors.Is(e.Err, t.err) {
			return t.text
		}
	}
	return "The key cannot be used."
}
