package actors

import (
	"context"
	"fmt"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// Query is a method that only reads. It waits for nobody: it runs beside the
// actor's other methods, on the values as they are recorded at some moment
// after it was asked, never on those of a method that is running. It is never
// older than what anybody was answered before it was asked. Its function can
// call nobody.
type Query[A, In, Out any] struct {
	name string
}

// DeclareQuery names a query; see [Declare].
func DeclareQuery[In, Out, A any](t Type[A], name string) Query[A, In, Out] {
	if err := checkName(name); err != nil {
		panic(fmt.Sprintf("actors: DeclareQuery on %s: %v", t.name, err))
	}
	return Query[A, In, Out]{name: name}
}

// Name returns the name.
func (q Query[A, In, Out]) Name() string { return q.name }

// Call asks. It is repeated by the node that asks until there is an answer or
// ctx ends. Of the options ExpireAfter counts.
func (q Query[A, In, Out]) Call(ctx context.Context, ref Ref[A], in In, options ...CallOption) (out Out, err error) {
	n, err := nodeFrom(ctx)
	if err != nil {
		return out, err
	}
	o := outgoing{callee: callee{ref.Type, ref.ID, q.name}, sending: callSending(options), in: in}
	result, err := n.read(ctx, &o)
	if err != nil {
		return out, err
	}
	err = o.result(n.codec, result, &out)
	return out, err
}

// HandleShared gives a query a function. Several run at once.
func HandleShared[A, In, Out any](q Query[A, In, Out], f func(ctx context.Context, view View[A], in In) (Out, error)) Handler[A] {
	return Handler[A]{sharedHandler(q, f)}
}

// HandleSharedOn is HandleShared for a type that has instances. The function
// does not get the instance, which belongs to the method that is running.
func HandleSharedOn[I, A, In, Out any](q Query[A, In, Out], f func(ctx context.Context, view View[A], in In) (Out, error)) HandlerOn[A, I] {
	return HandlerOn[A, I]{sharedHandler(q, f)}
}

func sharedHandler[A, In, Out any](q Query[A, In, Out], f func(ctx context.Context, view View[A], in In) (Out, error)) handler {
	return handler{name: q.name, read: func(ctx context.Context, r reading) record.Result {
		var in In
		if err := r.node.argument(r.at.Request().Args, &in); err != nil {
			return failed(err)
		}
		var out Out
		var err error
		if len(r.node.interceptors) == 0 {
			out, err = f(ctx, View[A]{r}, in)
		} else {
			err = r.node.intercept(ctx, r.seen(), func(ctx context.Context) (err error) {
				out, err = f(ctx, View[A]{r}, in)
				return err
			})
		}
		if err != nil {
			return failed(err)
		}
		return r.node.value(out)
	}}
}

// reading is an actor as a shared method sees it.
type reading struct {
	node *Node
	at   *runtime.Reading
}

// ID is the actor's id.
func (r reading) ID() string { return r.at.Request().Target.Actor }

func (r reading) codec() Codec { return r.node.codec }

func (r reading) cell(ctx context.Context, name string) ([]byte, bool, error) {
	return r.at.Cell(ctx, name)
}

func (r reading) cells(ctx context.Context, prefix string) ([]cell, error) {
	return r.at.Cells(ctx, prefix)
}

// cell is one stored value.
type cell = record.Cell
