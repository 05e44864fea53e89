package idempotency

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay"
)

// refusal is an error about the tenure's key.
func (t *tenure) refusal(reason error) *Error {
	return &Error{Err: reason, Name: t.guard.scope.Name(), Key: t.request.Key}
}

// inFlight refuses a repetition that came, or waited, in vain.
func (t *tenure) inFlight(remaining time.Duration, cause error) error {
	e := t.refusal(ErrInFlight)
	e.RetryAfter = min(t.guard.config.RetryAfter, max(remaining, time.Millisecond))
	e.Cause = cause
	return e
}

// failure says that the store failed.
func (t *tenure) failure(cause error) error {
	e := t.refusal(ErrStoreFailed)
	e.Cause = cause
	return e
}

// storeError says why the store did not begin: because the caller gave up,
// because it is full, or because it failed.
func (t *tenure) storeError(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, ErrStoreFull):
		e := t.refusal(ErrStoreFull)
		e.RetryAfter = t.guard.config.RetryAfter
		return e
	case ctx.Err() != nil:
		return gaveUp(ctx)
	default:
		return t.failure(err)
	}
}

// gaveUp is the end of a claim whose caller does not want it any longer.
func gaveUp(ctx context.Context) error {
	return fmt.Errorf("idempotency: the caller gave up before the work began: %w", backstay.ContextError(ctx))
}

// emitRefusal tells of a refusal. A caller who gave up was not refused.
func (g *Guard) emitRefusal(ctx context.Context, err error) {
	refusal, ok := errors.AsType[*Error](err)
	if !ok || refusal.Reason() == "" {
		return
	}
	o := backstay.Classify(err)
	g.scope.Emit(ctx, backstay.Event{
		Kind: backstay.CallRejected, Reason: refusal.Reason(), Err: err, Outcome: o, Wait: o.RetryAfter,
	})
}
