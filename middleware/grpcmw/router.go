package grpcmw

import (
	"context"
	"errors"

	"google.golang.org/grpc"

	"github.com/backstay-go/backstay/middleware"
)

// Router is for all the targets of a policy file: it sends each RPC through the
// [Client] of the target that the RPC belongs to, by the endpoint of its
// connection and its method. What belongs to none has the policies of
// [middleware.Standard], under the name [middleware.Unmatched].
//
// It follows targets that change: the next RPC goes by the new version, and
// the state of what is as it was is kept; see [middleware.Registry.Apply].
// Fallbacks and the bounds of the keys stay those that a target began with,
// which the observer is told. One Router may serve several connections. It is
// safe for concurrent use.
type Router struct {
	routes *middleware.Routes[*Client]
}

// NewRouter returns a Router; the options are those of each of its Clients. It
// returns every fault of every target.
func NewRouter(targets middleware.Targets, options ...Option) (*Router, error) {
	routes, err := middleware.NewRoutes(targets, func(t middleware.Target) (*Client, error) {
		return NewClient(t, options...)
	})
	if err != nil {
		return nil, err
	}
	return &Router{routes: routes}, nil
}

// DialOptions returns what puts the Router under a connection: its interceptors,
// and the end of grpc-go's own retries, which would multiply with those of the
// targets; see [Client.DialOptions].
func (r *Router) DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(r.Unary),
		grpc.WithChainStreamInterceptor(r.Stream),
		grpc.WithDisableRetry(),
	}
}

// Unary is a grpc.UnaryClientInterceptor: [Client.Unary] of the RPC's target.
func (r *Router) Unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, options ...grpc.CallOption) error {
	c, err := r.find(method, cc)
	if err != nil {
		return withStatus(ctx, err)
	}
	return c.Unary(ctx, method, req, reply, cc, invoker, options...)
}

// Stream is a grpc.StreamClientInterceptor: [Client.Stream] of the RPC's target.
func (r *Router) Stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
	c, err := r.find(method, cc)
	if err != nil {
		return nil, withStatus(ctx, err)
	}
	return c.Stream(ctx, desc, cc, method, streamer, options...)
}

func (r *Router) find(method string, cc *grpc.ClientConn) (*Client, error) {
	q := Request{Method: method}
	if cc != nil {
		q.Target = cc.Target()
	}
	return r.routes.Find(middleware.Request{Host: q.Host(), GRPC: method})
}

// All calls f with the Client of each target, until f returns false. It has the
// shape of an iterator: for name, client := range router.All.
func (r *Router) All(f func(name string, c *Client) bool) { r.routes.All(f) }

// Registries calls f with the pipelines of each target, until f returns false:
// those that there are now, so whoever shows or measures them asks again. See
// console.Console.AddAll and otelmw.All.
func (r *Router) Registries(f func(name string, p *middleware.Registry) bool) {
	r.routes.Registries(f)
}

// Close refuses further RPCs and waits for what the Clients still own; see
// [Client.Close].
func (r *Router) Close(ctx context.Context) error {
	var faults error
	for _, c := range r.All {
		faults = errors.Join(faults, c.Close(ctx))
	}
	return faults
}
