package breaker

import (
	"context"

	"github.com/backstay-go/backstay"
)

// Run makes one call through b, or rejects it with an [*OpenError]. x judges
// how the call ended. A panic or runtime.Goexit in next counts as a failure
// and goes on its way. A nil b only calls next.
//
// Run reads the clock only where b is not closed, has a time window or a slow
// rule, or where SlowAfter is set and ctx has a deadline.
func Run[Q, R any](ctx context.Context, b *Breaker, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	var began backstay.Instant
	return RunAt(ctx, &began, b, x, q, next)
}

// RunAt is [Run] for a pipeline, which has read the clock before: *began is the
// time now, or 0 if it was not read. It is read again when next has returned,
// as the time when the service began: a layer inside that makes the call wait,
// such as a bulkhead, moves it, so that waiting never counts as slow.
func RunAt[Q, R any](ctx context.Context, began *backstay.Instant, b *Breaker, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	if b == nil {
		return next(ctx, q)
	}
	pass, err := b.enter(ctx, began)
	if err != nil {
		var none R
		return none, err
	}
	if pass.probe != nil {
		pass.announce(ctx)
	}
	over := false
	defer func() {
		if !over {
			pass.broken(ctx)
		}
	}()
	r, err := next(ctx, q)
	class := backstay.Judge(ctx, x, r, err).Class
	over = true
	pass.finish(ctx, class, *began)
	return r, err
}

// Do calls f through b, or rejects it with an [*OpenError]. Errors are judged
// by [backstay.Classify].
func Do[T any](ctx context.Context, b *Breaker, f func(context.Context) (T, error)) (T, error) {
	if b == nil {
		return f(ctx)
	}
	if p := b.phase.Load(); p.gate == nil { // the rule, written out because it is quicker so
		var began backstay.Instant
		if b.settings.Load().timesStart(ctx) {
			began = backstay.Now()
		}
		return closed(ctx, Pass{b: b, phase: p}, began, f)
	}
	return Run(ctx, b, backstay.Plain[T]{}, struct{}{}, func(ctx context.Context, _ struct{}) (T, error) {
		return f(ctx)
	})
}

// closed calls f through a breaker that is closed.
func closed[T any](ctx context.Context, pass Pass, began backstay.Instant, f func(context.Context) (T, error)) (T, error) {
	over := false
	defer func() {
		if !over {
			pass.broken(ctx)
		}
	}()
	v, err := f(ctx)
	class := backstay.Success
	if err != nil {
		class = backstay.Judge(ctx, backstay.Plain[T]{}, v, err).Class
	}
	over = true
	pass.finish(ctx, class, began)
	return v, err
}

// enter is Allow that keeps the clock's reading. It does not announce a probe.
func (b *Breaker) enter(ctx context.Context, began *backstay.Instant) (Pass, error) {
	p := b.phase.Load()
	gated := p.gate != nil
	if *began == 0 && (gated || b.settings.Load().timesStart(ctx)) {
		*began = backstay.Now()
	}
	if gated {
		return b.admit(ctx, *began)
	}
	return Pass{b: b, phase: p}, nil
}
