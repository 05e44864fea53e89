package grpcmw

import (
	"context"
	"errors"

	"google.golang.org/grpc"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
)

// Unary is a grpc.UnaryClientInterceptor.
//
// The caller's reply is written once, when the call has ended well; it holds
// what one attempt or one fallback answered. Every error satisfies
// status.FromError: the backend's last own status, or for a refusal, which
// also matches [backstay.ErrRejected], UNAVAILABLE or DEADLINE_EXCEEDED.
func (c *Client) Unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if c.passed.has(method) {
		return invoker(ctx, method, req, reply, cc, options...)
	}
	began := backstay.Now()
	q := newRequest(ctx, method, cc)
	q.Message, q.invoker, q.options = req, invoker, splitOptions(options)
	q.reply, q.replies = reply, typeOf(reply)
	r, err := c.call(ctx, began, q)
	if err == nil {
		err = q.fill(r)
	} else if f, ok := errors.AsType[*attemptError](err); ok && r == nil {
		r = f.reply
	}
	err = withStatus(ctx, err)
	q.options.publish(r, err)
	return err
}

// call sends q through its pipeline.
func (c *Client) call(ctx context.Context, began backstay.Instant, q *Request) (*Reply, error) {
	keyed, err := c.withKey(ctx, q)
	if err != nil {
		return nil, err
	}
	p := c.pipelines.Get(c.key(q), began)
	return middleware.RunAt(keyed, began, p, c.ladder, c.exchange, q, c.send)
}

// sendOnce sends one attempt, with a reply of its own: the innermost call of
// the pipeline.
func (c *Client) sendOnce(ctx context.Context, q *Request) (*Reply, error) {
	r := &Reply{Message: q.reply, own: true}
	if q.replies.known() {
		r.Message = q.replies.fresh()
	}
	err := q.invoker(c.outgoing(ctx, q), q.Method, q.Message, r.Message, q.cc, q.options.of(r)...)
	if err != nil {
		return nil, c.failed(q, r, err)
	}
	return r, nil
}
