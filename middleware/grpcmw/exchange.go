package grpcmw

import (
	"errors"
	"fmt"

	"github.com/backstay-go/backstay"
)

// exchange is how RPCs are repeated and judged. One serves all calls of a
// Client, since everything that an attempt changes is made by the attempt.
type exchange struct {
	c *Client
}

// Repeat allows what may be sent twice: an RPC that never reached the server,
// a method that says so of itself or is named by an option, a call that
// carries an idempotency key, one that its caller marked, or any to a target
// that is idempotent.
func (x *exchange) Repeat(q *Request, o backstay.Outcome) error {
	if err := q.isolated(); err != nil {
		return err
	}
	if err := q.stream.repeatable(); err != nil {
		return err
	}
	if o.Unsent || q.keyed || q.repeatable || x.c.repeats.mayRepeat(q.Method) || x.c.now().idempotent {
		return nil
	}
	return fmt.Errorf("grpcmw: %s is not known to be idempotent: set its idempotency_level, name it by WithIdempotent, send an "+
		"idempotency key, mark the context with retry.MarkRepeatable, or the target as idempotent", q.Method)
}

// Hedge allows copies of unary reads, of other unary calls that may be repeated
// and that their caller marked, and of any to a target that is idempotent.
func (x *exchange) Hedge(q *Request) error {
	if q.stream != nil {
		return errors.New("grpcmw: a stream is never hedged")
	}
	if err := q.isolated(); err != nil {
		return err
	}
	if x.c.repeats.safe(q.Method) || x.c.now().idempotent || q.hedgeable && (q.keyed || x.c.repeats.mayRepeat(q.Method)) {
		return nil
	}
	return fmt.Errorf("grpcmw: %s is not known to be a read: set its idempotency_level, or name it by WithReads", q.Method)
}

// Fork returns a request that shares nothing with q: late copies, abandoned
// attempts and refreshes outlive the call, and after that its caller may use
// the message again. A stream is opened anew as it is, since no message may be
// changed that was sent on one.
func (x *exchange) Fork(q *Request, attempt int) (*Request, error) {
	if q.stream != nil {
		return q, nil
	}
	if err := q.isolated(); err != nil {
		return nil, err
	}
	return q.fork(attempt)
}

// Classify judges by [Classify] and the Client's classifier.
func (x *exchange) Classify(r *Reply, err error) backstay.Outcome {
	if err == nil && x.c.classify == nil {
		return backstay.Outcome{}
	}
	return x.judge(r, err)
}

// judge is apart so that a success need not pay for it.
func (x *exchange) judge(r *Reply, err error) backstay.Outcome {
	o := outcomeOf(err)
	if f, ok := errors.AsType[*attemptError](err); ok {
		o.Unsent = o.Unsent || f.outcome.Unsent // also of an attempt that was cut at its limit
		if r == nil {
			r = f.reply
		}
	}
	if x.c.classify == nil {
		return o
	}
	return x.overrule(r, err, o)
}

// outcomeOf judges an error that has passed through policies.
func outcomeOf(err error) backstay.Outcome {
	if err == nil {
		return backstay.Outcome{}
	}
	_, judged := errors.AsType[backstay.Judged](err)
	if judged || errors.Is(err, backstay.ErrRejected) {
		return backstay.Classify(err)
	}
	return Classify(err, nil)
}

// Bind cancels c when the stream has ended; at once for a unary reply,
// which is complete.
func (x *exchange) Bind(r *Reply, c backstay.Canceler) *Reply {
	if r == nil || r.live == nil {
		c.Cancel()
		return r
	}
	r.live.onEnd(c)
	return r
}

// Discard ends a stream that nobody will see.
func (x *exchange) Discard(r *Reply) {
	if r != nil && r.live != nil {
		r.live.end()
	}
}

// isolated returns nil if every attempt can have a reply of its own.
func (q *Request) isolated() error {
	if q.stream == nil && !q.replies.known() {
		return fmt.Errorf("grpcmw: a reply of type %T cannot be made again, so that %s is sent once", q.reply, q.Method)
	}
	return nil
}
