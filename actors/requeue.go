package actors

import (
	"context"
	"encoding/json"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// Requeue makes the request of a dead letter again, as a tell: with the same
// argument and baggage, without a deadline, and under a key of the letter's
// own. It returns when the log has acknowledged it. Within [Config].Window a
// second Requeue of the letter, or of a copy, makes no second request, and says
// nothing of that (see [Node.Requeued]); later it does, under the same identity:
// keys of [Self.IdempotencyKey] and ids of messages are those of the first
// Requeue, and others than those of the request that failed. What must happen once
// however often it is requeued needs a key from the argument.
//
// The letter stays where it is, and says nothing of it. Who had called, and got
// [ErrPoison], is not told of how the tell ends. A letter that is not of a
// request ([ReasonUndecodable], [ReasonNotIngested]) is an error, and so is one
// without its argument ([DeadLetter].LeftOut).
func (n *Node) Requeue(ctx context.Context, d DeadLetter) error {
	c, err := requeued(&d)
	if err != nil {
		return err
	}
	if c.Args = d.Argument; len(d.Baggage) > 0 {
		if c.Baggage, err = json.Marshal(d.Baggage); err != nil {
			return mistake("actors: baggage of dead letter %s: %w", d.CopyKey(), err)
		}
	}
	to := callee{d.Type, d.ID, d.Method}
	return to.failed(n.runtime.Tell(ctx, c))
}

// Requeued reports whether the letter, or a copy of it, was requeued within
// [Config].Window, so that another Requeue would make no second request. It asks
// the owner of the actor; ctx bounds the wait for one.
func (n *Node) Requeued(ctx context.Context, d DeadLetter) (bool, error) {
	c, err := requeued(&d)
	if err != nil {
		return false, err
	}
	r, err := n.runtime.Result(ctx, c)
	if err != nil {
		return false, n.explained(&callee{d.Type, d.ID, d.Method}, err)
	}
	return r.Failure == nil || r.Failure.Code != runtime.CodeUnknown, nil
}

// requeued is the request that a letter is made into, without what it brings.
func requeued(d *DeadLetter) (runtime.ClientCall, error) {
	if d.Type == "" || d.ID == "" || d.Method == "" {
		return runtime.ClientCall{}, mistake("actors: the dead letter %s is that of no request (%s): there is nothing to make again", d.CopyKey(), d.Reason)
	}
	if d.LeftOut > 0 {
		to := callee{d.Type, d.ID, d.Method}
		return runtime.ClientCall{}, mistake("actors: the dead letter %s of %s.%s is without the argument: %d bytes were left out, with which the brokers refused it as too large; tell the method anew, with what its caller knows", d.CopyKey(), to.String(), d.Method, d.LeftOut)
	}
	return runtime.ClientCall{Target: record.Address{Type: d.Type, Actor: d.ID}, Method: d.Method, Key: "requeue " + d.CopyKey()}, nil
}
