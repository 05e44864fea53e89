package grpcmw

import (
	"context"

	"google.golang.org/grpc"

	"github.com/backstay-go/backstay/middleware"
)

// Inner are interceptors inside of the policies of a target: every attempt and
// every copy goes through them, as through those that a connection is dialled
// with after [Client.DialOptions]. One that is nil is none.
type Inner struct {
	Unary  grpc.UnaryClientInterceptor
	Stream grpc.StreamClientInterceptor
}

// WithInner has f choose what is inside of the policies of each target, once,
// when its Client is made: so the targets of a [Router] may have the faults of
// package chaos, or credentials, each its own. RPCs that no policy acts on, see
// [WithPassThrough], do not meet it. f may be called while calls of other
// targets wait for it, and must not call the Router.
func WithInner(f func(t middleware.Target) Inner) Option {
	return func(b *builder) { b.inner = f }
}

// invoker returns next inside of the interceptor for unary calls.
func (i *Inner) invoker(next grpc.UnaryInvoker) grpc.UnaryInvoker {
	if i.Unary == nil {
		return next
	}
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, options ...grpc.CallOption) error {
		return i.Unary(ctx, method, req, reply, cc, next, options...)
	}
}

// streamer returns next inside of the interceptor for streams.
func (i *Inner) streamer(next grpc.Streamer) grpc.Streamer {
	if i.Stream == nil {
		return next
	}
	return func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, options ...grpc.CallOption) (grpc.ClientStream, error) {
		return i.Stream(ctx, desc, cc, method, next, options...)
	}
}
