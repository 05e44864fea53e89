package actors

import (
	"context"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// Pending is a call that was begun with [Method.Go], or a question that was with
// [Query.Go].
type Pending[Out any] struct {
	callee
	node   *Node
	err    error
	nested *runtime.Pending
	root   *rootCall
}

// Await waits for the call's value. While a method awaits, its actor takes in
// what the method's own calls call back, and nothing else. It may be called
// more than once, and after its ctx has cut it short.
func (p *Pending[Out]) Await(ctx context.Context) (out Out, err error) {
	if p.err != nil {
		return out, p.err
	}
	var result record.Result
	if p.nested != nil {
		result, err = p.nested.Await(ctx)
	} else {
		result, err = p.root.await(ctx)
	}
	if err != nil {
		return out, p.node.hosted(p.failed(err))
	}
	return answer[Out](&p.callee, p.node.codec, result)
}

// rootCall is a call or a question from outside that runs on a goroutine of its own.
type rootCall struct {
	done   chan struct{}
	result record.Result
	err    error
}

// goRoot begins one, if the node still takes any.
func (n *Node) goRoot(ctx context.Context, o outgoing, send func(context.Context, *outgoing) (record.Result, error)) (*rootCall, error) {
	if !n.roots.Add() {
		return nil, o.failed(ErrStopped)
	}
	r := &rootCall{done: make(chan struct{})}
	go func() {
		defer n.roots.Done()
		defer close(r.done)
		r.result, r.err = send(ctx, &o)
	}()
	return r, nil
}

func (r *rootCall) await(ctx context.Context) (record.Result, error) {
	select {
	case <-r.done:
		return r.result, r.err
	case <-ctx.Done():
		return record.Result{}, backstay.ContextError(ctx)
	}
}
