package grpcmw

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/wire"
	"github.com/backstay-go/backstay/middleware"
)

// once runs handler, and for an RPC with an idempotency key, once per key.
func (s *Server) once(ctx context.Context, a *middleware.Admission, req any, method string, handler grpc.UnaryHandler) (any, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	key, guarded, err := a.Keyed(carrier(md))
	switch {
	case err != nil:
		return nil, err
	case !guarded:
		return handler(ctx, req)
	}
	r := idempotency.Request{Key: key, Scope: []string{s.tenantOf(ctx), method}}
	if key != "" {
		if r.Fingerprint, err = s.fingerprint(req, r.Scope); err != nil {
			return nil, err
		}
	}
	return runGuarded(ctx, a.Guard(), r, req, handler)
}

func (s *Server) tenantOf(ctx context.Context) string {
	if s.tenant == nil {
		return ""
	}
	return s.tenant(ctx)
}

// fingerprint returns that of a request's message.
func (s *Server) fingerprint(req any, scope []string) (f idempotency.Fingerprint, err error) {
	m, ok := req.(proto.Message)
	if !ok {
		return f, status.Errorf(codes.Unimplemented, "an idempotency key needs a protobuf request, and this is a %T", req)
	}
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return f, status.Errorf(codes.Internal, "the request cannot be compared: %v", err)
	}
	d := idempotency.NewDigest(scope...)
	_, _ = d.Write(body) // never fails
	return d.Sum(), nil
}

// runGuarded runs handler under the guard: its own answer goes out as it is, a
// kept one as it was recorded, marked.
func runGuarded(ctx context.Context, g *idempotency.Guard, r idempotency.Request, req any, handler grpc.UnaryHandler) (any, error) {
	var reply any
	var failed error // an answer that is an error, and kept
	answer, replayed, err := g.Run(ctx, r, func(work context.Context) (idempotency.Answer, error) {
		rec := newRecorder(work)
		got, err := handler(rec.context(work), req)
		if err != nil && !lasting(err) {
			return idempotency.Answer{}, err
		}
		reply, failed = got, err
		return rec.answer(got, err), nil
	})
	switch {
	case err != nil:
		return nil, err
	case !replayed:
		return reply, failed
	}
	return replay(ctx, answer)
}

// lasting reports whether an error is a verdict on the request, which stays
// the same however often it comes, so that it is kept as an answer. Codes that
// depend on who asks, on load, or on the server's health are not.
func lasting(err error) bool {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.FailedPrecondition, codes.OutOfRange:
		return true
	default:
		return false
	}
}

// replay answers with what was recorded.
func replay(ctx context.Context, answer idempotency.Answer) (any, error) {
	rec, err := decode(answer.Data)
	if err != nil {
		return nil, status.Error(codes.Internal, fmt.Sprintf("the kept answer cannot be read: %v", err))
	}
	header := rec.header()
	header.Set(wire.HeaderIdempotentReplayed, "true")
	_ = grpc.SetHeader(ctx, header)
	_ = grpc.SetTrailer(ctx, rec.trailer())
	return rec.reply()
}
