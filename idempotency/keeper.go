package idempotency

import (
	"context"
	"errors"
	"time"

	"github.com/backstay-go/backstay"
)

// keep renews the lease until ctx is done or the lease is lost. It begins when
// the first renewal is due.
func (t *tenure) keep(ctx context.Context) {
	for {
		wait, ok := t.renew(ctx)
		if !ok || sleep(ctx, wait) != nil {
			return
		}
	}
}

// linger ends the work's context when its caller, who has just given up, does
// not get an answer within Grace.
func (t *tenure) linger(ctx, caller context.Context) {
	if !errors.Is(caller.Err(), context.Canceled) {
		return // the work's context has a deadline of its own
	}
	if sleep(ctx, t.guard.config.Grace) == nil {
		t.end(backstay.ContextError(caller))
	}
}

// renewals is how often a lease is renewed before it would pass, and how often
// a failed renewal is tried again before the next would be due.
const renewals = 3

// nextRenewal decides how to go on after a renewal that ended in err while
// left remained of the lease: when to renew next, or that the lease is lost.
func nextRenewal(lease, left time.Duration, err error) (wait time.Duration, lost bool) {
	switch {
	case err == nil:
		return lease / renewals, false
	case errors.Is(err, ErrLeaseLost) || left <= 0:
		return 0, true
	default:
		return min(lease/renewals/renewals, left), false
	}
}

// renew renews the lease once. It reports false when there is nothing left to
// keep.
func (t *tenure) renew(ctx context.Context) (time.Duration, bool) {
	lease := t.guard.config.Lease
	err := t.tryRenew(ctx)
	wait, lost := nextRenewal(lease, t.until.Sub(backstay.Now()), err)
	switch {
	case !lost:
		return wait, true
	case ctx.Err() != nil: // the work has ended meanwhile
		return 0, false
	case t.reclaim(ctx):
		return lease / renewals, true
	}
	t.lose(ctx, err)
	return 0, false
}

// tryRenew asks the store.
func (t *tenure) tryRenew(ctx context.Context) error {
	lease, asked := t.guard.config.Lease, backstay.Now()
	limit := min(lease/renewals, t.until.Sub(asked)) // too late: fails at once, and reclaim decides
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := attempt(ctx, func(ctx context.Context) error { return t.guard.store.Renew(ctx, t.hold, lease) })
	if err == nil {
		t.until = asked.Add(lease)
	}
	return err
}

// reclaim takes a key back whose lease has passed, if nobody else has it: a
// process that was stopped for a while need not lose its work.
func (t *tenure) reclaim(ctx context.Context) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, t.guard.patience())
	defer cancel()
	result, err := t.begin(ctx)
	return err == nil && result.State == Started
}

// lose ends the work's context: somebody else may have begun the same work.
func (t *tenure) lose(ctx context.Context, cause error) {
	e := t.refusal(ErrLeaseLost)
	e.Cause = cause
	if errors.Is(cause, ErrLeaseLost) {
		e.Cause = nil
	}
	t.lost = e
	t.end(e)
	if g := t.guard; !g.scope.Silent() {
		g.scope.Emit(ctx, backstay.Event{Kind: LeaseLost, Err: e})
	}
}
