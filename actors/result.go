package actors

import (
	"context"

	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// Result is what a call from outside with that [IdempotencyKey] has ended with,
// as Call would have returned it: for a client that was cut short, or is not the
// one that called. Nothing runs.
//
// It is [ErrPending] if the call was accepted and has not ended, with what it waits
// for as Detail: what it has called that nobody has answered, if nobody hosts that
// type, what is before it on its actor, what its last attempt failed with. It is
// [ErrUnknownKey] if the call was not accepted yet, or was last asked for, by Call
// or Tell, so long ago that its answer is not kept any more: see [Config].Window.
// The answer is never older than what anybody was told before it was asked for.
// ref must be the actor that was called, also if a chain of tail calls ends at
// another.
func (m Method[In, Out, A]) Result(ctx context.Context, ref Ref[A], key string) (out Out, err error) {
	n, err := nodeFrom(ctx)
	if err != nil {
		return out, err
	}
	to := callee{ref.Type, ref.ID, m.name}
	if key == "" {
		return out, mistake("actors: %s.%s: the idempotency key is empty", to.String(), m.name)
	}
	o := outgoing{callee: to, sending: sending{key: key, keyed: true}}
	result, err := n.runtime.Result(ctx, runtime.ClientCall{Target: o.target(), Method: o.method, Key: o.rootKey()})
	if err != nil {
		return out, n.explained(&to, err)
	}
	return answer[Out](&to, n.codec, result)
}
