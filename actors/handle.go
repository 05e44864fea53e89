package actors

import (
	"context"
	"fmt"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// Handler is a method with what it does, for [Host]. Make it with [Handle],
// [HandleNext] or [HandleShared].
type Handler[A any] struct{ handler }

// handler is a method as the node runs it.
type handler struct {
	name string
	run  func(ctx context.Context, i *invocation) runtime.End
	read func(ctx context.Context, r reading) record.Result
}

// Handle gives a method a function. It runs alone on its actor. What it
// changes of the actor's values, and what it tells, becomes durable when it
// returns nil, in one record; an error discards what was not recorded yet, and
// is the call's result.
//
// It runs at least once: after a failure of its process it runs again, on
// another one. A function that reads, and then writes what depends on it, is
// right as it is; one that calls in between should write in a tail call:
// see [HandleNext].
func Handle[A, In, Out any](m Method[A, In, Out], f func(ctx context.Context, self Self[A], in In) (Out, error)) Handler[A] {
	return HandleNext(m, func(ctx context.Context, self Self[A], in In) (Next[Out], error) {
		out, err := f(ctx, self, in)
		return Return(out), err
	})
}

// HandleNext gives a method a function that may end in a tail call.
func HandleNext[A, In, Out any](m Method[A, In, Out], f func(ctx context.Context, self Self[A], in In) (Next[Out], error)) Handler[A] {
	return Handler[A]{handler{name: m.name, run: func(ctx context.Context, i *invocation) runtime.End {
		return run(ctx, i, f)
	}}}
}

// HandlerOn is a method of actors that have an instance, for [HostInstances].
type HandlerOn[A, I any] struct{ handler }

// HandleOn gives a method a function of the actor's instance, such as a method
// expression: HandleOn(Deposit, (*account).deposit).
func HandleOn[A, I, In, Out any](m Method[A, In, Out], f func(instance *I, ctx context.Context, self Self[A], in In) (Out, error)) HandlerOn[A, I] {
	return HandleNextOn(m, func(instance *I, ctx context.Context, self Self[A], in In) (Next[Out], error) {
		out, err := f(instance, ctx, self, in)
		return Return(out), err
	})
}

// HandleNextOn is HandleOn for a function that may end in a tail call.
func HandleNextOn[A, I, In, Out any](m Method[A, In, Out], f func(instance *I, ctx context.Context, self Self[A], in In) (Next[Out], error)) HandlerOn[A, I] {
	return HandlerOn[A, I]{handler{name: m.name, run: func(ctx context.Context, i *invocation) runtime.End {
		instance, _ := i.attempt.Instance().(*I)
		return run(ctx, i, func(ctx context.Context, self Self[A], in In) (Next[Out], error) {
			return f(instance, ctx, self, in)
		})
	}}}
}

// run decodes the argument, runs the function, and encodes how it ended.
func run[A, In, Out any](ctx context.Context, i *invocation, f func(context.Context, Self[A], In) (Next[Out], error)) runtime.End {
	var in In
	if err := i.node.argument(i.attempt.Request().Args, &in); err != nil {
		return ended(err)
	}
	var next Next[Out]
	var err error
	if len(i.node.interceptors) == 0 {
		next, err = f(ctx, Self[A]{i}, in)
	} else {
		next, err = intercepted(ctx, i, f, in)
	}
	if err == nil {
		err = i.fault()
	}
	switch {
	case err != nil:
		return ended(err)
	case next.tail != nil:
		return i.goOn(next.tail)
	default:
		return runtime.End{Outcome: record.End, Result: i.node.value(next.value)}
	}
}

// intercepted runs the function within the node's interceptors.
func intercepted[A, In, Out any](ctx context.Context, i *invocation, f func(context.Context, Self[A], In) (Next[Out], error), in In) (next Next[Out], err error) {
	err = i.node.intercept(ctx, i.seen(), func(ctx context.Context) (err error) {
		next, err = f(ctx, Self[A]{i}, in)
		return err
	})
	return next, err
}

// goOn encodes a tail call.
func (i *invocation) goOn(t *tail) runtime.End {
	args, err := i.node.encode(&t.outgoing)
	if err != nil {
		return ended(err)
	}
	end := runtime.End{Outcome: record.TailSelf, Tail: &record.Call{Target: t.target(), Method: t.method, Args: args}}
	if t.release {
		end.Outcome = record.TailOther
	}
	return end
}

// argument decodes an argument.
func (n *Node) argument(args []byte, in any) error {
	if err := n.codec.Decode(args, in); err != nil {
		return fmt.Errorf("actors: the argument does not decode: %w", err)
	}
	return nil
}

// value encodes a result.
func (n *Node) value(out any) record.Result {
	value, err := n.codec.Encode(out)
	if err != nil {
		return failed(fmt.Errorf("actors: the result cannot be encoded: %w", err))
	}
	return record.Result{Value: value}
}
