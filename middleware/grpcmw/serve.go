package grpcmw

import (
	"context"
	"runtime/debug"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/wire"
	"github.com/backstay-go/backstay/middleware"
)

// Unary is a grpc.UnaryServerInterceptor.
func (s *Server) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (reply any, err error) {
	if s.passed.has(info.FullMethod) {
		return handler(ctx, req)
	}
	defer s.caught(ctx, info.FullMethod, &err) // of ServerPriority
	a, in := s.entrance.Now(), s.arrival(ctx, info.FullMethod, false)
	reply, err = middleware.Admit(ctx, a, in, served{}, struct{}{}, func(ctx context.Context, _ struct{}) (_ any, err error) {
		defer s.caught(ctx, info.FullMethod, &err) // on the handler's own goroutine, also where it was left behind
		return s.once(ctx, a, req, info.FullMethod, handler)
	})
	return reply, s.answer(ctx, err, func(md metadata.MD) { _ = grpc.SetTrailer(ctx, md) })
}

// Stream is a grpc.StreamServerInterceptor. A stream holds its permit until it
// ends; its keys are its handler's business.
func (s *Server) Stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	if s.passed.has(info.FullMethod) {
		return handler(srv, ss)
	}
	ctx := ss.Context()
	defer s.caught(ctx, info.FullMethod, &err)
	in := s.arrival(ctx, info.FullMethod, true)
	_, err = middleware.Admit(ctx, s.entrance.Now(), in, served{}, struct{}{}, func(ctx context.Context, _ struct{}) (any, error) {
		return nil, handler(srv, &serverStream{ss, ctx})
	})
	return s.answer(ctx, err, ss.SetTrailer)
}

// serverStream is a stream under another context.
type serverStream struct {
	grpc.ServerStream
	ctx context.Context //nolint:containedctx // a stream hands out its context
}

// Context returns the context.
func (s *serverStream) Context() context.Context { return s.ctx }

// answer returns err as a status. Where it says that another attempt would
// meet the same, because we refused, or a server below forbade it, the caller
// is told not to retry.
func (s *Server) answer(ctx context.Context, err error, setTrailer func(metadata.MD)) error {
	if err == nil {
		return nil
	}
	if middleware.Forbids(backstay.Classify(err)) {
		setTrailer(metadata.Pairs(
			wire.HeaderGRPCPushback, "-1",
			wire.HeaderRetry, wire.RetryNever,
		))
	}
	return public(withStatus(ctx, err))
}

// caught, deferred, makes a panic an answer: what it was is for the observer and
// not for the caller.
func (s *Server) caught(ctx context.Context, method string, err *error) { //nolint:gocritic // recover wants to be called by the deferred function itself
	v := recover()
	if v == nil {
		return
	}
	told := &middleware.PanicError{Operation: method, Value: v, Stack: debug.Stack()}
	s.entrance.Now().Scope().Emit(ctx, backstay.Event{
		Kind: middleware.HandlerPanicked, Operation: method, Outcome: told.Outcome(), Err: told,
	})
	*err = status.Error(codes.Internal, "the handler panicked")
}

// served is the exchange of a server: only how its bulkhead judges answers.
type served struct{ backstay.Plain[any] }

// Classify judges the handler's status.
func (served) Classify(_ any, err error) backstay.Outcome { return outcomeOf(err) }
