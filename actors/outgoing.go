package actors

import (
	"context"
	"math"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
)

// outgoing is a request before it is encoded.
type outgoing struct {
	callee
	sending
	in any
}

// call begins a nested call.
func (i *invocation) call(ctx context.Context, o *outgoing) (*runtime.Pending, error) {
	c, err := i.encode(ctx, o)
	if err != nil {
		return nil, err
	}
	c.Deadline, c.TTL = bound(ctx, o.expireAfter)
	p, err := i.attempt.Go(c)
	if err == nil && o.cancellable {
		p.Revocable()
	}
	return p, o.failed(err)
}

// tell adds a tell to the method's step. It takes no deadline from ctx (A65).
func (i *invocation) tell(ctx context.Context, o *outgoing) error {
	c, err := i.encode(ctx, o)
	if err != nil {
		return err
	}
	c.Deadline, c.TTL = bound(context.Background(), o.expireAfter)
	if o.delay > 0 {
		c.NotBefore = i.attempt.Now() + milliseconds(o.delay)
	}
	return o.failed(i.attempt.Tell(c))
}

func (i *invocation) encode(ctx context.Context, o *outgoing) (record.Call, error) {
	if o.keyed {
		return record.Call{}, mistake("actors: %s.%s: IdempotencyKey is for requests from outside; within a method use Name", o.String(), o.method)
	}
	args, err := i.node.encode(o)
	if err != nil {
		return record.Call{}, err
	}
	return record.Call{Target: o.target(), Method: o.method, Args: args, Name: o.name, Baggage: i.node.baggage(ctx)}, nil
}

// encode encodes the argument, and refuses what no actor can have.
func (n *Node) encode(o *outgoing) ([]byte, error) {
	switch {
	case o.actor == "":
		return nil, mistake("actors: %s: the reference is empty: make it with Type.Ref", o.method)
	case o.id == "":
		return nil, mistake("actors: %s.%s: the id is empty", o.actor, o.method)
	case isPlace(o.id):
		return nil, mistake("actors: %s.%s: the id is that of a deferred reply, which a Token completes", o.String(), o.method)
	case o.expireAfter < 0 || o.delay < 0:
		return nil, mistake("actors: %s.%s: ExpireAfter and Delay must not be negative", o.String(), o.method)
	}
	args, err := n.codec.Encode(o.in)
	if err != nil {
		return nil, mistake("actors: argument of %s.%s: %w", o.String(), o.method, err)
	}
	return args, nil
}

// client turns it into a root request.
func (n *Node) client(ctx, bounded context.Context, o *outgoing) (runtime.ClientCall, error) {
	args, err := n.encode(o)
	if err != nil {
		return runtime.ClientCall{}, err
	}
	switch {
	case o.keyed && o.key == "":
		return runtime.ClientCall{}, mistake("actors: %s.%s: the idempotency key is empty", o.String(), o.method)
	case o.keyed && o.cancellable:
		return runtime.ClientCall{}, mistake("actors: %s.%s: a call with an idempotency key may be others' too, and cannot be Cancellable", o.String(), o.method)
	}
	c := runtime.ClientCall{Target: o.target(), Method: o.method, Args: args, Key: o.rootKey(), Revocable: o.cancellable, Baggage: n.baggage(ctx)}
	c.Deadline, c.TTL = bound(bounded, o.expireAfter)
	if o.delay > 0 {
		c.NotBefore = n.runtime.Now() + milliseconds(o.delay)
	}
	return c, nil
}

// rootKey is the client's key, if it gave one, as another key for every actor
// and method: keys for what methods do outside derive from it, and two clients
// that chose the same one must not get one charge between them.
func (o *outgoing) rootKey() string { return idempotency.Derive(o.key, o.actor, o.id, o.method) }

// bound is the earlier of ctx's deadline and expireAfter: as a time by this
// process's clock, and as the milliseconds left, which are what counts where
// the log has a clock of its own (A67). Both are 0 if there is no bound.
func bound(ctx context.Context, expireAfter time.Duration) (at, ttl int64) {
	left, ok := deadline.Remaining(ctx)
	if expireAfter > 0 && (!ok || expireAfter < left) {
		left, ok = expireAfter, true
	}
	if !ok {
		return 0, 0
	}
	ttl = min(max(milliseconds(left), 1), math.MaxInt32*1000) // 0 would be no bound
	return time.Now().UnixMilli() + ttl, ttl
}
