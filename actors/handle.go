package actors

import (
	"context"
	"fmt"
	"reflect"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// Handler is a method with what it does, for [Host] and [HostInstances]. Make
// it with [Handle], [HandleNext], [HandleOn], [HandleNextOn] or [HandleShared].
type Handler[A any] struct{ handler }

// handler is a method as the node runs it; exactly one of run and read is set,
// unless the function is missing.
type handler struct {
	name     string
	instance reflect.Type // that run needs; nil if none
	run      func(ctx context.Context, i *invocation) runtime.End
	read     func(ctx context.Context, r reading) record.Result
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
func Handle[In, Out, A any](m Method[In, Out, A], f func(ctx context.Context, self Self[A], in In) (Out, error)) Handler[A] {
	if f == nil {
		return missing[A](m.name)
	}
	return HandleNext(m, func(ctx context.Context, self Self[A], in In) (Next[Out], error) {
		out, err := f(ctx, self, in)
		return Return(out), err
	})
}

// HandleNext gives a method a function that may end in a tail call.
func HandleNext[In, Out, A any](m Method[In, Out, A], f func(ctx context.Context, self Self[A], in In) (Next[Out], error)) Handler[A] {
	if f == nil {
		return missing[A](m.name)
	}
	return Handler[A]{handler{name: m.name, run: func(ctx context.Context, i *invocation) runtime.End {
		return run(ctx, i, f)
	}}}
}

// HandleOn gives a method a function of the actor's instance, such as a method
// expression: HandleOn(Deposit, (*account).deposit).
func HandleOn[I, In, Out, A any](m Method[In, Out, A], f func(instance *I, ctx context.Context, self Self[A], in In) (Out, error)) Handler[A] {
	if f == nil {
		return missing[A](m.name)
	}
	return HandleNextOn(m, func(instance *I, ctx context.Context, self Self[A], in In) (Next[Out], error) {
		out, err := f(instance, ctx, self, in)
		return Return(out), err
	})
}

// HandleNextOn is HandleOn for a function that may end in a tail call.
func HandleNextOn[I, In, Out, A any](m Method[In, Out, A], f func(instance *I, ctx context.Context, self Self[A], in In) (Next[Out], error)) Handler[A] {
	if f == nil {
		return missing[A](m.name)
	}
	return Handler[A]{handler{name: m.name, instance: reflect.TypeFor[*I](), run: func(ctx context.Context, i *invocation) runtime.End {
		instance, _ := i.attempt.Instance().(*I)
		return run(ctx, i, func(ctx context.Context, self Self[A], in In) (Next[Out], error) {
			return f(instance, ctx, self, in)
		})
	}}}
}

// missing is a handler without a function, which [Open] refuses.
func missing[A any](name string) Handler[A] { return Handler[A]{handler{name: name}} }

// fault is why the handler cannot be hosted by actors with this instance, nil
// for none.
func (h *handler) fault(actorType string, instance reflect.Type) error {
	switch {
	case h.name == "":
		return fmt.Errorf("actors: a handler of type %q has no method: make it with Handle, of a method that was declared", actorType)
	case h.run == nil && h.read == nil:
		return fmt.Errorf("actors: the handler of %s.%s has no function", actorType, h.name)
	case h.instance == nil || h.instance == instance:
		return nil
	case instance == nil:
		return fmt.Errorf("actors: the handler of %s.%s needs an instance of type %v: host the type with HostInstances", actorType, h.name, h.instance)
	default:
		return fmt.Errorf("actors: the handler of %s.%s needs an instance of type %v, and activate makes %v", actorType, h.name, h.instance, instance)
	}
}

// run decodes the argument, runs the function, and encodes how it ended.
func run[In, Out, A any](ctx context.Context, i *invocation, f func(context.Context, Self[A], In) (Next[Out], error)) runtime.End {
	in, err := argument[In](i.node, i.attempt.Request().Args)
	if err != nil {
		return result(err)
	}
	var next Next[Out]
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
		return i.ended(ctx, err)
	case next.tail != nil:
		return i.goOn(next.tail)
	default:
		return runtime.End{Outcome: record.End, Result: value(i.node, next.value)}
	}
}

// intercepted runs the function within the node's interceptors.
func intercepted[In, Out, A any](ctx context.Context, i *invocation, f func(context.Context, Self[A], In) (Next[Out], error), in In) (next Next[Out], err error) {
	err = i.node.intercept(ctx, i.seen(), func(ctx context.Context) (err error) {
		next, err = f(ctx, Self[A]{i}, in)
		return err
	})
	return next, err
}

// goOn encodes a tail call. One that keeps the actor has no target: it is the
// same, and need not stand in the record.
func (i *invocation) goOn(t *tail) runtime.End {
	args := t.args
	if args == nil {
		var err error
		if args, err = i.node.encode(&outgoing{callee: t.callee, in: t.in}); err != nil {
			return result(err)
		}
	}
	on := i.attempt.TailCall()
	on.Method, on.Args = t.method, args
	if !t.release {
		return runtime.End{Outcome: record.TailSelf, Tail: on}
	}
	on.Target = t.target()
	return runtime.End{Outcome: record.TailOther, Tail: on}
}

// argument decodes an argument.
func argument[In any](n *Node, args []byte) (in In, err error) {
	if in, err = decode[In](n.codec, args); err != nil {
		return in, fmt.Errorf("actors: the argument does not decode: %w", err)
	}
	return in, nil
}

// value encodes a result.
func value[Out any](n *Node, out Out) record.Result {
	text, err := encode(n.codec, nil, out)
	if err != nil {
		return failed(fmt.Errorf("actors: the result cannot be encoded: %w", err))
	}
	return record.Result{Value: text}
}
