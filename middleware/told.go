package middleware

import (
	"context"
	"errors"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/timeout"
)

// Told returns what a server tells its caller of err, which a policy has ended
// a request in, or a call that its handler made: a sentence that is the same
// for all errors of a kind, and the reason, as events have it, where there is
// one. The text of err is for the observer: it may name hosts, targets and
// limits. Where err is of no policy, text is empty.
func Told(err error) (text string, reason backstay.Reason) {
	if err == nil {
		return "", ""
	}
	if refusal, ok := errors.AsType[*idempotency.Error](err); ok {
		return refusal.Told(), refusal.Reason()
	}
	if backstay.Classify(err).Class == backstay.Rejected {
		return toldOfRefusal(err)
	}
	if errors.Is(err, timeout.ErrTimeout) {
		return "It took too long.", ""
	}
	return "", ""
}

// toldOfRefusal is Told of what was refused before it was begun, or sent.
func toldOfRefusal(err error) (text string, reason backstay.Reason) {
	const unavailable = "It is not available."
	full, isFull := errors.AsType[*bulkhead.FullError](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "There is not enough time left.", backstay.ReasonTooLate
	case isFull:
		return "There is too much to do.", full.Reason
	case errors.Is(err, breaker.ErrOpen):
		return unavailable, backstay.ReasonBreakerOpen
	case errors.Is(err, ErrClosed):
		return unavailable, backstay.ReasonClosed
	default:
		return unavailable, ""
	}
}
