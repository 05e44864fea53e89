package bulkhead

import (
	"context"

	"github.com/backstay-go/backstay"
)

// Run makes the call next(ctx, q) under a permit of b. The permit comes back
// when next returns, panics or exits its goroutine; with [Config].HoldBody,
// when the answer is used up. A call that gets no permit is not made: the
// error is a [FullError], or that of ctx if ctx was done.
//
// Weight and priority are those of ctx where the configuration asks for them.
// A nil b only calls next.
func Run[Q, R any](ctx context.Context, b *Bulkhead, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	var began backstay.Instant
	return RunAt(ctx, &began, b, x, q, next)
}

// RunAt is Run for pipelines that have read the clock already, at *began. If
// the call has to queue, *began becomes the moment after the queue; if it is
// zero and the time is needed, it becomes the moment of the permit. next may
// read it.
func RunAt[Q, R any](ctx context.Context, began *backstay.Instant, b *Bulkhead, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	if b == nil {
		return next(ctx, q)
	}
	p := b.plan.Load()
	weight, r := int64(1), defaultRank
	if p.asks {
		weight, r = p.ask(ctx)
	}
	if err := b.enter(ctx, p, weight, r, began); err != nil {
		var none R
		return none, err
	}
	if p.watched {
		return watch(ctx, *began, b, p, weight, x, q, next)
	}
	defer b.release(weight)
	return next(ctx, q)
}

// watch makes a call whose answer matters: to an adaptive limit, or because
// the permit is tied to it.
func watch[Q, R any](ctx context.Context, began backstay.Instant, b *Bulkhead, p *plan, weight int64, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	tied := false
	defer func() {
		if !tied {
			b.release(weight)
		}
	}()
	r, err := next(ctx, q)
	if p.adaptive != nil {
		b.sample(ctx, began, backstay.Judge(ctx, x, r, err), err)
	}
	if p.holdBody && err == nil {
		tied = true
		r = tie(b, weight, x, r)
	}
	return r, err
}

// tie hands the permit over to the answer.
func tie[Q, R any](b *Bulkhead, weight int64, x backstay.Exchange[Q, R], r R) R {
	free := b.releaser(weight)
	tied := false
	defer func() {
		if !tied { // Bind has panicked
			free.Cancel()
		}
	}()
	r = x.Bind(r, free)
	tied = true
	return r
}

// Do runs f under a permit of b, see [Run].
func Do[T any](ctx context.Context, b *Bulkhead, f func(context.Context) (T, error)) (T, error) {
	if b == nil {
		return f(ctx)
	}
	if p := b.plan.Load(); !p.asks && !p.watched { // the rule, written out because it is quicker so
		var began backstay.Instant
		if err := b.enter(ctx, p, 1, defaultRank, &began); err != nil {
			var none T
			return none, err
		}
		defer b.release(1)
		return f(ctx)
	}
	return Run(ctx, b, backstay.Plain[T]{}, struct{}{}, func(ctx context.Context, _ struct{}) (T, error) {
		return f(ctx)
	})
}
