package middleware

import (
	"context"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// Run sends q through the policies of p in their canonical order and at last
// to next, which may be called several times, with hedging also at once. l may
// be nil. It is for protocols: next should be one long-lived function, since
// it escapes. Plain functions go through [Do] or [Race].
func Run[Q, R any](ctx context.Context, p *Pipeline, l *fallback.Ladder[Q, R], x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	return RunAt(ctx, backstay.Now(), p, l, x, q, next)
}

// RunAt is Run for a call that began at began, for callers that have read the
// clock already.
func RunAt[Q, R any](ctx context.Context, began backstay.Instant, p *Pipeline, l *fallback.Ladder[Q, R], x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	if p == nil {
		return fallback.Run(ctx, l, x, q, next)
	}
	v := p.now()
	if v.crew != nil {
		c := &call[Q, R]{pipeline: p, version: v, ladder: permitted(v, l), exchange: x, began: began}
		return watched(ctx, c, q, func(ctx context.Context, q Q) (R, error) { return race(ctx, c, q, next) })
	}
	c := call[Q, R]{pipeline: p, version: v, ladder: permitted(v, l), exchange: x, began: began}
	return watched(ctx, &c, q, func(ctx context.Context, q Q) (R, error) { return nest(ctx, &c, q, next) })
}

// Do calls f through the policies of p. It never leaves the caller's
// goroutine, and so neither hedges nor abandons, whatever p's configuration:
// that is what makes it free of allocations. [Race] does both.
func Do[T any](ctx context.Context, p *Pipeline, f func(context.Context) (T, error)) (T, error) {
	return DoOr(ctx, p, nil, f)
}

// DoOr is Do with a ladder of fallbacks, which may be nil.
func DoOr[T any](ctx context.Context, p *Pipeline, l *fallback.Ladder[struct{}, T], f func(context.Context) (T, error)) (T, error) {
	if p == nil {
		return fallback.Do(ctx, l, f)
	}
	v := p.now()
	c := call[struct{}, T]{pipeline: p, version: v, ladder: permitted(v, l), exchange: backstay.Plain[T]{}, began: backstay.Now()}
	if v.idempotency != nil {
		ctx, _ = idempotency.Ensure(ctx, v.idempotency, p.scope.Policy)
	}
	return watched(ctx, &c, struct{}{}, func(ctx context.Context, q struct{}) (T, error) {
		return nest(ctx, &c, q, func(ctx context.Context, _ struct{}) (T, error) { return f(ctx) })
	})
}

// Race is [DoOr] with the policies that need goroutines: hedged copies of f
// may run at once, and an f that ignores its cancellation may be left behind.
func Race[T any](ctx context.Context, p *Pipeline, l *fallback.Ladder[struct{}, T], f func(context.Context) (T, error)) (T, error) {
	if p != nil {
		if v := p.now(); v.idempotency != nil {
			ctx, _ = idempotency.Ensure(ctx, v.idempotency, p.scope.Policy)
		}
	}
	return Run(ctx, p, l, backstay.Plain[T]{}, struct{}{}, func(ctx context.Context, _ struct{}) (T, error) {
		return f(ctx)
	})
}

// nest is the canonical order, outermost first, for calls that stay on one
// goroutine. None of its closures escapes.
func nest[Q, R any](ctx context.Context, c *call[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	v, x, at, n := c.version, c.exchange, c.began, int32(0)
	return fallback.Run(ctx, c.ladder, x, q, func(ctx context.Context, q Q) (R, error) {
		return deadline.RunAt(ctx, c.began, v.deadline, x, q, func(ctx context.Context, q Q) (R, error) {
			return retried(ctx, c, q, func(ctx context.Context, q Q) (R, error) {
				first := at
				at = 0 // further attempts read the clock anew
				n++
				return attempt(ctx, first, n, c, q, next)
			})
		})
	})
}

// race is nest with the two policies that need goroutines: hedging, in whose
// copies everything inside runs, and abandoning, which leaves breaker and
// bulkhead with the attempt that it leaves behind.
func race[Q, R any](ctx context.Context, c *call[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	v, x, n := c.version, c.exchange, int32(0)
	hedges, timeouts := v.hedges(), v.timeouts()
	return fallback.Run(ctx, c.ladder, x, q, func(ctx context.Context, q Q) (R, error) {
		return deadline.RunAt(ctx, c.began, v.deadline, x, q, func(ctx context.Context, q Q) (R, error) {
			return retried(ctx, c, q, func(ctx context.Context, q Q) (R, error) {
				n++
				n := n // late copies keep theirs
				return hedge.Run(ctx, hedges, x, q, func(ctx context.Context, q Q) (R, error) {
					if !timeouts.Abandons() {
						return attempt(ctx, 0, n, c, q, next)
					}
					return timeout.Abandon(ctx, timeouts, x, q, func(ctx context.Context, q Q) (R, error) {
						return attempt(ctx, 0, n, c, q, next)
					})
				})
			})
		})
	})
}

// retried is retry.RunAt for a context that is alive.
func retried[Q, R any](ctx context.Context, c *call[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	v := c.version
	if v.deadline == nil && ctx.Err() != nil { // else the deadline has looked
		var none R
		return none, abandoned(ctx)
	}
	return retry.RunAt(ctx, c.began, v.retries(), v.admits, c.exchange, q, next)
}

// attempt is the inner half of the order: attempt number n, or a hedged copy
// of it. The bulkhead moves at past its queue, so that neither the slow-call
// rule nor the attempt timeout counts the time spent there.
func attempt[Q, R any](ctx context.Context, at backstay.Instant, n int32, c *call[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	if at == 0 {
		at = backstay.Now()
	}
	v, x := c.version, c.exchange
	return breaker.RunAt(ctx, &at, v.breaker, x, q, func(ctx context.Context, q Q) (R, error) {
		return bulkhead.RunAt(ctx, &at, v.bulkhead, x, q, func(ctx context.Context, q Q) (R, error) {
			if !c.loud {
				return timeout.RunAt(ctx, at, v.timeouts(), x, q, next)
			}
			return sent(ctx, at, n, c, q, func(ctx context.Context, q Q) (R, error) {
				return timeout.RunAt(ctx, at, v.timeouts(), x, q, next)
			})
		})
	})
}
