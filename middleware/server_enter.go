package middleware

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/retry"
)

// enter returns the context of a request: its limits, whether what it calls may
// be retried, and its priority. Call cancel on every path.
func (a *Admission) enter(ctx context.Context, in Arrival) (_ context.Context, cancel context.CancelFunc, err error) {
	incoming := a.incoming
	if in.Stream {
		incoming = a.uncapped
	}
	if in.Attempt > 1 && !a.nested {
		ctx = retry.Suppress(ctx)
	}
	if in.Ranked {
		ctx = bulkhead.WithPriority(ctx, in.Priority)
	} else if a.priorityHeader != "" {
		ctx = a.ranked(ctx, in.Header)
	}
	bounded, cancel, err := deadline.Extract(ctx, in.Header, incoming, 0)
	if !same(bounded, ctx) {
		in.Limits.add(bounded)
	}
	return bounded, cancel, err
}

// ranked returns ctx with the priority that the caller names. Of several the
// lowest counts: a proxy may add one, and should not be overruled upward.
func (a *Admission) ranked(ctx context.Context, c deadline.Carrier) context.Context {
	least, found := bulkhead.Critical, false
	for _, value := range c.Values(a.priorityHeader) {
		p, ok := priorityNamed(value)
		if !ok {
			a.scope.Emit(ctx, backstay.Event{
				Kind: backstay.HeaderIgnored, Reason: backstay.Reason(a.priorityHeader),
				Err: fmt.Errorf("middleware: %.32q is no priority: must be critical, default or sheddable", value),
			})
			continue
		}
		least, found = min(least, p), true
	}
	if !found {
		return ctx
	}
	return bulkhead.WithPriority(ctx, least)
}

func priorityNamed(value string) (p bulkhead.Priority, ok bool) {
	value = strings.TrimSpace(value)
	for _, p := range [...]bulkhead.Priority{bulkhead.Sheddable, bulkhead.Default, bulkhead.Critical} {
		if strings.EqualFold(value, p.String()) {
			return p, true
		}
	}
	return 0, false
}

// late refuses a request that has less left after the queue than its handler
// needs.
func (a *Admission) late(ctx context.Context) error {
	err := deadline.Need(ctx, a.minimum)
	if refusal, ok := errors.AsType[*deadline.TooLateError](err); ok {
		refusal.Name = a.scope.Name()
		a.scope.Emit(ctx, backstay.Event{
			Kind: backstay.CallRejected, Reason: backstay.ReasonTooLate, Err: refusal, Outcome: refusal.Outcome(),
		})
	}
	return err
}

// Keyed reads the idempotency key of a request. guarded is true where its work
// is for [Admission.Guard]: it has a key, or lacks one that is required. Errors
// are of type [*idempotency.Error].
func (a *Admission) Keyed(c deadline.Carrier) (key string, guarded bool, err error) {
	if a.guard == nil {
		return "", false, nil
	}
	key, err = idempotency.ParseFields(c.Values(a.keyHeader))
	if err != nil {
		return "", true, a.keyError(err)
	}
	return key, a.guard.Guards(idempotency.Request{Key: key}), nil
}

// keyError makes the refusal of an unusable key the server's.
func (a *Admission) keyError(err error) error {
	if e, ok := errors.AsType[*idempotency.Error](err); ok {
		e.Name = a.scope.Name()
		return e
	}
	return err
}
