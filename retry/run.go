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
//     up, at least two of them, or the next wait did not fit;
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
	var began backstay.Instant
	if p.Budget() != nil {
		began = backstay.Now()
	}
	if p != nil && ctx.Err() != nil {
		var none R
		return none, refuse(ctx)
	}
	r, first, err := run(ctx, began, p, x, q, next)
	if first && p != nil {
		note(backstay.ReportFrom(ctx), 1, "")
	}
	return r, err
}

// RunAt is Run for a pipeline, which has read the clock already, at began, has
// seen that ctx is alive, and notes by itself that a call succeeded at once.
func RunAt[Q, R any](ctx context.Context, began backstay.Instant, p *Policy, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	r, _, err := run(ctx, began, p, x, q, next)
	return r, err
}

// run makes the first attempt, and further ones where it fails. first is true
// where the first attempt succeeded.
func run[Q, R any](ctx context.Context, began backstay.Instant, p *Policy, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (_ R, first bool, _ error) {
	if p == nil {
		r, err := next(ctx, q)
		return r, true, err
	}
	if p.budget != nil {
		p.budget.Deposit(began)
	}
	r, err := next(ctx, q)
	var o backstay.Outcome
	if err == nil {
		o = x.Classify(r, nil) // as Judge would, and quicker
	} else {
		o = backstay.Judge(ctx, x, r, err)
	}
	if o.Class != backstay.Success {
		c := begin(ctx, p, began, o, err)
		r, err = again(ctx, &c, x, q, r, next)
		return r, false, err
	}
	return r, true, err
}

// Do calls f under p, as [Run] does: errors are judged by [backstay.Classify].
func Do[T any](ctx context.Context, p *Policy, f func(context.Context) (T, error)) (T, error) {
	if p == nil {
		return f(ctx)
	}
	return Run(ctx, p, backstay.Plain[T]{}, struct{}{}, func(ctx context.Context, _ struct{}) (T, error) {
		return f(ctx)
	})
}

// again goes on after a first attempt that did not succeed and returned r.
func again[Q, R any](ctx context.Context, c *call, x backstay.Exchange[Q, R], q Q, r R, next backstay.Call[Q, R]) (R, error) {
	var none R
	for {
		if c.outcome.Class.Retryable() {
			c.unrepeatable = x.Repeat(q, c.outcome)
		}
		d := c.decide(ctx)
		if !d.Retry {
			return r, c.finish(ctx, d)
		}
		c.plan(ctx, d)
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
