package timeout

import (
	"context"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/lazyctx"
)

// Run calls next under the limit of p. At the limit the attempt's context is
// cancelled and next is waited for; what it then returns, even an answer,
// comes back as an [Error]. An answer in time takes the limit off: a body that
// streams on is not cut. next must be able to run to its end if it ignores
// cancellation; [Abandon] is for callees that cannot be trusted to return.
func Run[Q, R any](ctx context.Context, p *Policy, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	if p == nil {
		return next(ctx, q)
	}
	return RunAt(ctx, backstay.Now(), p, x, q, next)
}

// RunAt is Run for an attempt that began at began, for callers that have read
// the clock already.
func RunAt[Q, R any](ctx context.Context, began backstay.Instant, p *Policy, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	if p == nil {
		return next(ctx, q)
	}
	var remaining time.Duration
	end, bounded := ctx.Deadline()
	if bounded {
		remaining = began.Until(end)
	}
	d, ok := Limit(p.after(ctx), remaining, bounded)
	if !ok {
		return next(ctx, q)
	}
	c := lazyctx.New(ctx, began.Add(d))
	if w := watchOf(ctx, p); w != nil {
		w.began(c, d)
	}
	return within(c, d, p, x, q, next)
}

// within calls next under c, whose limit is d after its beginning.
func within[Q, R any](c *lazyctx.Ctx, d time.Duration, p *Policy, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	bound := false
	defer func() {
		if !bound {
			c.Cancel() // also where next panics or exits its goroutine
		}
	}()
	r, err := next(c, q)
	if err == nil && c.Lift() {
		bound = true
		return x.Bind(r, c), nil
	}
	if !c.Expired() {
		return r, err // an error, or an answer that met the caller leaving
	}
	if err == nil {
		x.Discard(r)
	}
	var none R
	return none, &Error{Name: p.scope.Name(), After: d, Err: err}
}

// Do calls f under the limit of p, as [Run] does, or as [Abandon] does where
// the configuration asks for it.
func Do[T any](ctx context.Context, p *Policy, f func(context.Context) (T, error)) (T, error) {
	if p.Abandons() {
		return doAbandon(ctx, p, f)
	}
	return Run(ctx, p, backstay.Plain[T]{}, struct{}{}, func(ctx context.Context, _ struct{}) (T, error) {
		return f(ctx)
	})
}

// doAbandon is Do with Abandon. It is apart because here f escapes.
func doAbandon[T any](ctx context.Context, p *Policy, f func(context.Context) (T, error)) (T, error) {
	call := func(ctx context.Context, _ struct{}) (T, error) { return f(ctx) }
	x := backstay.Plain[T]{}
	return Abandon(ctx, p, x, struct{}{}, func(ctx context.Context, q struct{}) (T, error) {
		return Run(ctx, p, x, q, call)
	})
}
