package actors

import (
	"context"
	"sync"

	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// invocation is one run of a method, as its context and its Self know it.
type invocation struct {
	node    *Node
	attempt *runtime.Attempt

	mu      sync.Mutex
	spoiled error
}

// spoil makes the invocation fail whatever its method returns: it was told,
// and what it meant to write is not there.
func (i *invocation) spoil(err error) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.spoiled == nil {
		i.spoiled = err
	}
	return err
}

// changed takes the outcome of a change of the actor: one that was refused
// spoils the invocation.
func (i *invocation) changed(err error) error {
	if err == nil {
		return nil
	}
	return i.spoil(own(err))
}

func (i *invocation) fault() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.spoiled
}

// methodContext is the context of a method: it knows the invocation.
type methodContext struct {
	context.Context //nolint:containedctx // it is one
	invocation
}

type invocationKey struct{}

// Value finds the invocation, too.
func (c *methodContext) Value(key any) any {
	if key == (invocationKey{}) {
		return &c.invocation
	}
	return c.Context.Value(key)
}

// AfterFunc saves contexts that are made from this one a goroutine each: the
// standard library looks for it.
func (c *methodContext) AfterFunc(f func()) (stop func() bool) {
	return context.AfterFunc(c.Context, f)
}

// begin makes the context of a method.
func (n *Node) begin(ctx context.Context, a *runtime.Attempt) *methodContext {
	return &methodContext{Context: again(n.incoming(ctx, a.Request().Baggage), a), invocation: invocation{node: n, attempt: a}}
}

// invocationFrom returns the invocation whose method ctx was made for, or nil.
// A context that lost it makes new roots: their calls can wait for the very
// actor that makes them, until the busy timeout.
func invocationFrom(ctx context.Context) *invocation {
	i, _ := ctx.Value(invocationKey{}).(*invocation)
	return i
}

type nodeKey struct{}

// nodeFrom returns the node that calls from outside of methods go through.
func nodeFrom(ctx context.Context) (*Node, error) {
	if i := invocationFrom(ctx); i != nil {
		return i.node, nil
	}
	if n, ok := ctx.Value(nodeKey{}).(*Node); ok {
		return n, nil
	}
	return nil, ErrNoNode
}
