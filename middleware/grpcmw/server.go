package grpcmw

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/wire"
	"github.com/backstay-go/backstay/middleware"
)

// Server is what stands between grpc-go and the handlers: it takes up
// deadlines, sheds load, does keyed work once, keeps retries from multiplying,
// and turns panics into answers. It is safe for concurrent use and owns no
// goroutine but those of handlers that have outlasted their timeout.
type Server struct {
	entrance *middleware.Entrance
	passed   methods
	priority func(ctx context.Context, method string) bulkhead.Priority // nil: none is given
	tenant   func(ctx context.Context) string                           // nil: one for all
}

// ServerOption gives a [Server] a collaborator.
type ServerOption func(*serverBuilder)

type serverBuilder struct {
	server   *Server
	observer backstay.Observer
	store    idempotency.Store
}

// ServerObserver tells o of refusals, replays, timeouts, metadata that is not
// usable, and panics of handlers.
func ServerObserver(o backstay.Observer) ServerOption {
	return func(b *serverBuilder) { b.observer = backstay.Observers(b.observer, o) }
}

// ServerStore is where the idempotency keys are kept: one store for all the
// processes of a service.
func ServerStore(s idempotency.Store) ServerOption {
	return func(b *serverBuilder) { b.store = s }
}

// ServerPriority says which RPCs are shed first, if the bulkhead is configured
// with priorities. It wins over a priority_header.
func ServerPriority(f func(ctx context.Context, method string) bulkhead.Priority) ServerOption {
	return func(b *serverBuilder) { b.server.priority = f }
}

// ServerTenant says on whose behalf an RPC comes, so that the idempotency keys
// of one tenant mean nothing for another. Without it all callers share them.
func ServerTenant(f func(ctx context.Context) string) ServerOption {
	return func(b *serverBuilder) { b.server.tenant = f }
}

// ServerPassThrough names methods, "/pkg.Service/Method", or services,
// "/pkg.Service/", that the Server does nothing about, beside health checks
// and reflection.
func ServerPassThrough(names ...string) ServerOption {
	return func(b *serverBuilder) { b.server.passed.add(names) }
}

// NewServer returns a Server for c, or every fault of the configuration.
func NewServer(c middleware.Server, options ...ServerOption) (*Server, error) {
	b := serverBuilder{server: new(Server)}
	b.server.passed.add(untouched)
	for _, o := range options {
		o(&b)
	}
	entrance, err := middleware.NewEntrance(c, b.store, b.observer)
	err = errors.Join(err, backstay.Under("grpcmw", b.server.passed.validate("pass_through")))
	if err != nil {
		return nil, err
	}
	b.server.entrance = entrance
	return b.server, nil
}

// ServerOptions returns what puts the Server into a grpc.Server: its two
// interceptors, outermost of those that are given afterwards. Authentication
// belongs before them where [ServerTenant] needs it.
func (s *Server) ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(s.Unary),
		grpc.ChainStreamInterceptor(s.Stream),
	}
}

// Apply puts c in force for the RPCs that come from now on; those under way go
// by what they began with. State of what does not change is kept. The error has
// every fault, and nothing has changed; see [middleware.Entrance.Apply].
func (s *Server) Apply(c middleware.Server) error { return s.entrance.Apply(c) }

// Bulkhead returns the Server's bulkhead in force; nil if it has none.
func (s *Server) Bulkhead() *bulkhead.Bulkhead { return s.entrance.Now().Bulkhead() }

// Statuses returns the state of the Server's bulkhead, so that otelmw's
// Observer.Watch takes the Server for its gauges.
func (s *Server) Statuses() []middleware.Status { return s.entrance.Statuses() }

// Close waits for handlers that have outlasted their timeout, or until ctx
// ends. Stop the grpc.Server first.
func (s *Server) Close(ctx context.Context) error { return s.entrance.Close(ctx) }

// arrival returns what is known of an RPC before its handler runs.
func (s *Server) arrival(ctx context.Context, method string, stream bool) middleware.Arrival {
	md, _ := metadata.FromIncomingContext(ctx)
	in := middleware.Arrival{Header: carrier(md), Attempt: attemptOf(md), Stream: stream}
	if s.priority != nil {
		in.Priority, in.Ranked = s.priority(ctx, method), true
	}
	return in
}

// attemptOf returns which attempt an RPC is, from 1.
func attemptOf(md metadata.MD) int {
	return max(wire.Attempt(md[headerAttempt]), wire.PreviousTries(md[wire.HeaderGRPCPreviousTries]))
}
