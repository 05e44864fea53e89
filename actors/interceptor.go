package actors

import (
	"context"
	"errors"
	"slices"
)

// Interceptor runs round every method and query that a node runs: for logs,
// traces, authorization. It must call next once and return its error, or return
// one of its own, which is then the call's result. An error of the method stays
// one, whatever the interceptor makes of it.
type Interceptor func(ctx context.Context, in Invocation, next func(context.Context) error) error

// Invocation is what an [Interceptor] sees of a run.
type Invocation struct {
	// Type, ID and Method are what is called.
	Type, ID, Method string
	// RequestID is the same along a chain of tail calls, Link the number of the
	// link, from 0.
	RequestID string
	Link      int
	// Attempt counts from 1; as Self.Attempt it does not count a first one that
	// died with its process, which FencingToken tells apart.
	Attempt      int
	FencingToken uint64
	// Query says that it only reads, Tell that nobody waits for its value.
	Query, Tell bool
}

// errNotCalled and errTwice are faults of an interceptor.
var (
	errNotCalled = errors.New("actors: an interceptor neither called the method nor returned an error")
	errTwice     = errors.New("actors: an interceptor called the method twice")
)

// intercept runs f within the node's interceptors, the first one outermost. It
// is called only if there are any.
func (n *Node) intercept(ctx context.Context, in Invocation, f func(context.Context) error) error {
	var called bool
	var result error
	chain := func(ctx context.Context) error {
		if called {
			return errTwice
		}
		called = true
		result = f(ctx)
		return result
	}
	for _, outer := range slices.Backward(n.interceptors) {
		inner := chain
		chain = func(ctx context.Context) error { return outer(ctx, in, inner) }
	}
	err := chain(ctx)
	switch {
	case err != nil:
		return err
	case !called:
		return errNotCalled
	default:
		return result
	}
}

// seen is what interceptors see of a method's run.
func (i *invocation) seen() Invocation {
	s := Self[struct{}]{i}
	r := i.attempt.Request()
	return Invocation{
		Type: r.Target.Type, ID: r.Target.Actor, Method: r.Method, RequestID: s.RequestID(),
		Link: int(min(r.Seq, 1<<31-1)), Attempt: s.Attempt(), FencingToken: s.FencingToken(), Tell: r.Return.Tell(),
	}
}

// seen is what interceptors see of a query's run.
func (r reading) seen() Invocation {
	q := r.at.Request()
	return Invocation{Type: q.Target.Type, ID: q.Target.Actor, Method: q.Method, RequestID: q.ID.String(), Attempt: 1, Query: true}
}
