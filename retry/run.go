package retry

import (
	"context"
	"time"

	"github.com/backstay-go/backstay"
)

// Run calls next with q, and again with forks of q for as long as p decides
// for another attempt. What it returns is:
//
//   - the answer, once there is one, or the last answer where it is of a
//     retryable class and there is no other attempt: with a nil error;
//   - an [ExhaustedError] around the last error where the attempts were used
//     up, at least two of them, the next wait did not fit, or the budget is
//     empty;
//   - a [RefusedError] where a further attempt was rejected before it was sent,
//     the breaker having opened in between;
//   - an error that matches ctx's error, its cancel cause and the last failure
//     where ctx ended between attempts or in a later one;
//   - in every other case next's own error as it is.
//
// An answer that is to be retried is discarded before the wait. A context that
// has ended before the first attempt is answered with its error.
//
// Without a budget Run reads no clock before an attempt has failed, so that
// Elapsed counts from there; [RunAt] counts from where its caller says.
func Run[Q, R any](ctx context.Context, p *Policy, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	return RunAt(ctx, 0, p, nil, x, q, next)
}

// RunAt is Run for a pipeline, which has read the clock already, at began, has
// seen that ctx is alive, and notes by itself that a call succeeded at once. A
// began of 0 means that none of this is so. open, which may be nil, is asked
// before another attempt is planned: where it returns false the breaker inside
// would refuse that attempt, and the caller gets the answer there is.
func RunAt[Q, R any](ctx context.Context, began backstay.Instant, p *Policy, open func() bool, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	if p == nil {
		return next(ctx, q)
	}
	alone := began == 0
	if alone && ctx.Err() != nil {
		var none R
		return none, refuse(ctx)
	}
	if p.budget != nil {
		if alone {
			began = backstay.Now()
		}
		p.budget.Deposit(began)
	}
	r, err := next(ctx, q)
	o := backstay.Judge(ctx, x, r, err)
	if o.Class != backstay.Success {
		return goOn(ctx, began, p, open, x, q, r, err, o, next)
	}
	if alone {
		note(backstay.ReportFrom(ctx), 1, "")
	}
	return r, err
}

// goOn goes on after a first attempt that did not succeed: it returned r and
// err, which were judged as o. It is apart because what it keeps is large.
func goOn[Q, R any](ctx context.Context, began backstay.Instant, p *Policy, open func() bool, x backstay.Exchange[Q, R], q Q, r R, err error, o backstay.Outcome, next backstay.Call[Q, R]) (R, error) {
	c := begin(ctx, p, began, o, err)
	return again(ctx, &c, open, x, q, r, next)
}

// Do calls f under p, as [Run] does: errors are judged by [backstay.Classify].
func Do[T any](ctx context.Context, p *Policy, f func(context.Context) (T, error)) (T, error) {
	if p == nil {
		return f(ctx)
	}
	if ctx.Err() != nil {
		var none T
		return none, refuse(ctx)
	}
	var began backstay.Instant
	if p.budget != nil {
		began = backstay.Now()
		p.budget.Deposit(began)
	}
	v, err := f(ctx) // written out, since a success costs half as much so
	if err == nil {
		note(backstay.ReportFrom(ctx), 1, "")
		return v, nil
	}
	x := backstay.Plain[T]{}
	o := backstay.Judge(ctx, x, v, err)
	return goOn(ctx, began, p, nil, x, struct{}{}, v, err, o, func(ctx context.Context, _ struct{}) (T, error) {
		return f(ctx)
	})
}

// again goes on after a first attempt that did not succeed and returned r.
func again[Q, R any](ctx context.Context, c *call, open func() bool, x backstay.Exchange[Q, R], q Q, r R, next backstay.Call[Q, R]) (R, error) {
	var none R
	held := true // r is nobody else's: where a callback unwinds, it is discarded
	defer func() {
		if held {
			x.Discard(r)
		}
	}()
	for {
		if c.outcome.Class.Retryable() {
			c.unrepeatable = x.Repeat(q, c.outcome)
		}
		d := c.decide(ctx, open)
		if !d.Retry {
			err := c.finish(ctx, d)
			held = false
			return r, err
		}
		c.plan(ctx, d)
		held = false
		x.Discard(r)
		if !pause(ctx, d.Wait) {
			return none, c.abandon(ctx)
		}
		n := c.proceed(d)
		fork, err := x.Fork(q, n)
		if err != nil {
			return none, c.unmade(ctx, err)
		}
		r, err = next(context.WithValue(ctx, attemptKey{}, n), fork)
		held = true
		c.ended(backstay.Judge(ctx, x, r, err), err)
	}
}

// pause waits for d and reports whether ctx is still alive afterwards.
func pause(ctx context.Context, d time.Duration) bool {
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}
