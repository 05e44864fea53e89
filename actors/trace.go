package actors

import (
	"context"
	"errors"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// Tracer makes the spans of requests and of the methods that they run, and
// carries their context along. Package otelmw has one for OpenTelemetry. It is
// called by several goroutines at once. Without one nothing is paid for.
type Tracer interface {
	// StartRequest begins the span of a call, query or tell that is made from
	// outside of methods. It returns the context to go on with, and a function
	// that is called once, with what became of it.
	StartRequest(ctx context.Context, r Invocation) (context.Context, func(error))
	// StartRun begins the span of one run of a method or query. from is what came
	// with its request. The function that it returns is called once, when the
	// method has returned and its step is not yet on record: with nil, or with an
	// error that [backstay.Classify] takes for permanent where it is the result,
	// transient where the run has failed and is repeated, and canceled where the
	// node lost the actor meanwhile.
	StartRun(ctx context.Context, run Invocation, from Baggage) (context.Context, func(error))
	// Inject puts the context of ctx's span into what a request carries. It is
	// called for every request, nested ones included.
	Inject(ctx context.Context, into Baggage)
}

// requested makes a request from outside within a span.
func (n *Node) requested(ctx context.Context, o *outgoing, r Invocation, send func(*Node, context.Context, *outgoing) (record.Result, error)) (record.Result, error) {
	r.Type, r.ID, r.Method = o.actor, o.id, o.method
	ctx, done := n.tracer.StartRequest(ctx, r)
	result, err := send(n, ctx, o)
	if err == nil && result.Failure != nil {
		done(o.failure(result.Failure))
	} else {
		done(err)
	}
	return result, err
}

// errNoReturn is how a run ends that neither returned nor lost its actor: the
// runtime tells what it panicked with.
var errNoReturn = errors.New("the method did not return")

// ran runs a method within a span, if anybody wants one.
func (c *methodContext) ran(run func(context.Context, *invocation) runtime.End) runtime.End {
	t := c.node.tracer
	if t == nil {
		return run(c, &c.invocation)
	}
	inner, done := t.StartRun(c.Context, c.seen(), BaggageFrom(c.Context))
	c.Context = inner
	how := errNoReturn
	defer func() { done(how) }()
	end := run(c, &c.invocation)
	how = c.outcome(&end)
	return end
}

// outcome is how a run ended, for its span.
func (c *methodContext) outcome(end *runtime.End) error {
	switch {
	case errors.Is(context.Cause(c.Context), runtime.ErrLost):
		return errLost
	case end.Retry != nil:
		return errors.New(end.Retry.Reason)
	case end.Result.Failure != nil:
		return c.self().failure(end.Result.Failure)
	default:
		return nil
	}
}

// errLost is how a run ends whose effects nobody will see.
var errLost = backstay.Mark(errors.New("the node lost the actor: its next owner runs the method again"), backstay.Outcome{Class: backstay.Canceled})

// self is the request that runs, for errors.
func (i *invocation) self() *callee {
	r := i.attempt.Request()
	return &callee{r.Target.Type, r.Target.Actor, r.Method}
}

// read runs a query within a span, if anybody wants one.
func (r reading) read(ctx context.Context, f func(context.Context, reading) record.Result) record.Result {
	t := r.node.tracer
	if t == nil {
		return f(ctx, r)
	}
	ctx, done := t.StartRun(ctx, r.seen(), BaggageFrom(ctx))
	how := errNoReturn
	defer func() { done(how) }()
	result := f(ctx, r)
	if how = nil; result.Failure != nil {
		q := r.at.Request()
		how = (&callee{q.Target.Type, q.Target.Actor, q.Method}).failure(result.Failure)
	}
	return result
}
