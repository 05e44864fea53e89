package actors

import (
	"context"
	"fmt"
)

// Method is a method of a type of actors: its name and the types of its
// argument and result. Declare it once, in a package that hosts and callers
// share; what it does is given to [Host] with [Handle].
type Method[In, Out, A any] struct {
	name string
}

// Declare names a method. The name is what travels and is stored, for ever:
// change the program behind it, not its meaning. It panics as [NewType] does.
//
//	var Deposit = actors.Declare[Amount, Balance](Account, "deposit")
func Declare[In, Out, A any](t Type[A], name string) Method[In, Out, A] {
	if err := checkName(name); err != nil {
		panic(fmt.Sprintf("actors: Declare on %s: %v", t.name, err))
	}
	return Method[In, Out, A]{name: name}
}

// Name returns the name.
func (m Method[In, Out, A]) Name() string { return m.name }

// Call runs the method on an actor and waits for its value.
//
// Within a method, given that method's ctx, it is a nested call: what the
// method has changed so far is recorded with it, and if the caller fails, its
// retry waits until the callee has ended. From outside, with a ctx of
// [Node.Context], it is a root.
//
// The deadline of ctx travels along. It bounds when the method may begin, and
// the context of its first attempt. An error that the method returned is an
// [*Error]; others match this package's sentinels. A wait that ctx cut short
// matches [ErrUnanswered] and ctx's own error.
func (m Method[In, Out, A]) Call(ctx context.Context, ref Ref[A], in In, options ...CallOption) (out Out, err error) {
	if invocationFrom(ctx) != nil {
		return m.Go(ctx, ref, in, options...).Await(ctx)
	}
	n, err := nodeFrom(ctx)
	if err != nil {
		return out, err
	}
	o := m.outgoing(ref, in, callSending(options))
	result, err := n.call(ctx, &o)
	if err != nil {
		return out, err
	}
	return answer[Out](&o.callee, n.codec, result)
}

// Go begins a nested call and returns at once; calls that are begun before one
// is awaited are recorded together. From outside of a method it runs the call
// on a goroutine of the node. What is not awaited is waited for when the
// method has returned, and its result is dropped.
func (m Method[In, Out, A]) Go(ctx context.Context, ref Ref[A], in In, options ...CallOption) *Pending[Out] {
	o := m.outgoing(ref, in, callSending(options))
	p := &Pending[Out]{callee: o.callee}
	if i := invocationFrom(ctx); i != nil {
		p.node = i.node
		p.nested, p.err = i.call(ctx, &o)
		return p
	}
	if p.node, p.err = nodeFrom(ctx); p.err == nil {
		p.root, p.err = p.node.goRoot(ctx, o, p.node.call)
	}
	return p
}

// Tell sends a request whose value nobody waits for. From outside it returns
// when the log has acknowledged it: no failure loses it then. Within a method
// it is sent with the method's step, if that happens, and the error is
// about the request itself.
//
// A tell takes no deadline from ctx; see [ExpireAfter].
func (m Method[In, Out, A]) Tell(ctx context.Context, ref Ref[A], in In, options ...TellOption) error {
	o := m.outgoing(ref, in, tellSending(options))
	if i := invocationFrom(ctx); i != nil {
		return i.tell(ctx, &o)
	}
	n, err := nodeFrom(ctx)
	if err != nil {
		return err
	}
	return n.tell(ctx, &o)
}

func (m Method[In, Out, A]) outgoing(ref Ref[A], in In, s sending) outgoing {
	return outgoing{callee: m.of(ref), sending: s, in: in}
}

// of is the method of one actor.
func (m Method[In, Out, A]) of(ref Ref[A]) callee { return callee{ref.Type, ref.ID, m.name} }
