package grpcmw

import (
	"context"
	"errors"

	"google.golang.org/grpc"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/lazyctx"
	"github.com/backstay-go/backstay/middleware"
)

// Unary is a grpc.UnaryClientInterceptor.
//
// The caller's reply holds what one attempt or one fallback answered, and
// nothing is written to it once the call has returned. Every error satisfies
// status.FromError: the backend's last own status, or for a refusal, which
// also matches [backstay.ErrRejected], UNAVAILABLE or DEADLINE_EXCEEDED.
func (c *Client) Unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if c.passed.has(method) {
		return invoker(ctx, method, req, reply, cc, options...)
	}
	began := backstay.Now()
	q := newRequest(ctx, method, cc)
	q.Message, q.invoker, q.options = req, c.inner.invoker(invoker), splitOptions(options)
	q.reply, q.replies = reply, typeOf(reply)
	r, err := c.call(ctx, began, q)
	if err == nil {
		err = q.fill(r)
	}
	if err != nil {
		if f, ok := errors.AsType[*attemptError](err); ok && r == nil {
			r = f.reply
		}
		err = returned(ctx, err)
	}
	q.options.publish(r, err)
	return err
}

// call sends q through its pipeline.
func (c *Client) call(ctx context.Context, began backstay.Instant, q *Request) (*Reply, error) {
	keyed, err := c.withKey(ctx, q)
	if err != nil {
		return nil, err
	}
	p := c.pipelines.Get(c.keyOf(ctx, q), began)
	return middleware.RunAt(keyed, began, p, c.ladder, c.exchange, q, c.send)
}

// sendOnce sends one attempt: the innermost call of the pipeline. Whatever may
// run beside another attempt, or on when the call has ended, is a fork, and has
// a reply of its own; a first attempt alone is decoded where it is wanted.
func (c *Client) sendOnce(ctx context.Context, q *Request) (*Reply, error) {
	r := &q.answer
	r.Message, r.own = q.reply, true
	if q.forked {
		r.Message = q.replies.fresh()
	}
	ctx, end := lazyctx.Standard(ctx) // grpc-go waits on it whatever happens
	defer end()
	options := q.options.of(r, c.readsHeaders, q.room[:0])
	err := q.invoker(c.outgoing(ctx, q), q.Method, q.Message, r.Message, q.cc, options...)
	if err != nil {
		return nil, c.failed(q, r, err)
	}
	return r, nil
}
