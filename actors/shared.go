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
type Query[In, Out, A any] struct {
	name string
}

// DeclareQuery names a query; see [Declare].
func DeclareQuery[In, Out, A any](t Type[A], name string) Query[In, Out, A] {
	if err := checkName(name); err != nil {
		panic(fmt.Sprintf("actors: DeclareQuery on %s: %v", t.name, err))
	}
	return Query[In, Out, A]{name: name}
}

// Name returns the name.
func (q Query[In, Out, A]) Name() string { return q.name }

// Call asks. It is repeated by the node that asks until there is an answer or
// ctx ends. Of the options ExpireAfter counts.
func (q Query[In, Out, A]) Call(ctx context.Context, ref Ref[A], in In, options ...CallOption) (out Out, err error) {
	n, err := nodeFrom(ctx)
	if err != nil {
		return out, err
	}
	o := q.outgoing(ref, in, options)
	result, err := n.read(ctx, &o)
	if err != nil {
		return out, err
	}
	return answer[Out](&o.callee, n.codec, result)
}

// Go asks on a goroutine of the node, and returns at once. A wait that is cut
// short does not end the question; ctx does.
func (q Query[In, Out, A]) Go(ctx context.Context, ref Ref[A], in In, options ...CallOption) *Pending[Out] {
	o := q.outgoing(ref, in, options)
	p := &Pending[Out]{callee: o.callee}
	if p.node, p.err = nodeFrom(ctx); p.err == nil {
		p.root, p.err = p.node.goRoot(ctx, o, p.node.read)
	}
	return p
}

func (q Query[In, Out, A]) outgoing(ref Ref[A], in In, options []CallOption) outgoing {
	return outgoing{callee: callee{ref.Type, ref.ID, q.name}, sending: callSending(options), in: in}
}

// HandleShared gives a query a function. Several run at once.
func HandleShared[In, Out, A any](q Query[In, Out, A], f func(ctx context.Context, view View[A], in In) (Out, error)) Handler[A] {
	if f == nil {
		return missing[A](q.name)
	}
	return Handler[A]{handler{name: q.name, read: func(ctx context.Context, r reading) record.Result {
		in, err := argument[In](r.node, r.at.Request().Args)
		if err != nil {
			return failed(err)
		}
		var out Out
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
		return value(r.node, out)
	}}}
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
