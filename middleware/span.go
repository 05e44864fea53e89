package middleware

import (
	"context"
	"fmt"

	"github.com/backstay-go/backstay"
)

// startSpan asks the tracer for the context to go on with, and for what ends
// it. A tracer that panics is told of, and done without.
func (p *Pipeline) startSpan(ctx context.Context, e backstay.Event) (inner context.Context, end func(backstay.Event)) {
	tracer := p.now().tracer
	if tracer == nil {
		return ctx, func(backstay.Event) {}
	}
	e.Policy, e.Key = p.scope.Policy, p.scope.Key
	defer func() {
		if v := recover(); v != nil {
			p.tracerPanicked(ctx, e.Kind, v)
			inner, end = ctx, func(backstay.Event) {}
		}
	}()
	inner, ended := tracer.Start(ctx, e)
	return inner, func(e backstay.Event) { p.endSpan(ctx, e, ended) } // not end: that is this function
}

func (p *Pipeline) endSpan(ctx context.Context, e backstay.Event, end func(backstay.Event)) {
	e.Policy, e.Key = p.scope.Policy, p.scope.Key
	defer func() {
		if v := recover(); v != nil {
			p.tracerPanicked(ctx, e.Kind, v)
		}
	}()
	end(e)
}

func (p *Pipeline) tracerPanicked(ctx context.Context, k backstay.Kind, v any) {
	p.scope.Emit(ctx, backstay.Event{
		Kind: backstay.CallbackPanicked,
		Err:  fmt.Errorf("middleware: tracer panicked on %q: %v", k, v),
	})
}
