package grpcmw_test

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// The metadata that gRPC's interoperability tests have sent back.
const (
	echoInitial  = "x-grpc-test-echo-initial"
	echoTrailing = "x-grpc-test-echo-trailing-bin"
)

// interop is the server of gRPC's interoperability tests.
type interop struct {
	testgrpc.UnimplementedTestServiceServer
}

func (interop) EmptyCall(context.Context, *testgrpc.Empty) (*testgrpc.Empty, error) {
	return new(testgrpc.Empty), nil
}

func (interop) UnaryCall(ctx context.Context, req *testgrpc.SimpleRequest) (*testgrpc.SimpleResponse, error) {
	sendBack(ctx, func(md metadata.MD) error { return grpc.SetHeader(ctx, md) }, func(md metadata.MD) { _ = grpc.SetTrailer(ctx, md) })
	if err := asked(req.GetResponseStatus()); err != nil {
		return nil, err
	}
	return &testgrpc.SimpleResponse{Payload: payload(req.GetResponseSize())}, nil
}

func (interop) StreamingOutputCall(req *testgrpc.StreamingOutputCallRequest, ss grpc.ServerStreamingServer[testgrpc.StreamingOutputCallResponse]) error {
	return respond(req, ss.Context(), ss.Send)
}

func (interop) StreamingInputCall(ss grpc.ClientStreamingServer[testgrpc.StreamingInputCallRequest, testgrpc.StreamingInputCallResponse]) error {
	var sum int32
	for {
		req, err := ss.Recv()
		if errors.Is(err, io.EOF) {
			return ss.SendAndClose(&testgrpc.StreamingInputCallResponse{AggregatedPayloadSize: sum})
		}
		if err != nil {
			return err
		}
		sum += int32(len(req.GetPayload().GetBody()))
	}
}

func (interop) FullDuplexCall(ss grpc.BidiStreamingServer[testgrpc.StreamingOutputCallRequest, testgrpc.StreamingOutputCallResponse]) error {
	sendBack(ss.Context(), ss.SetHeader, ss.SetTrailer)
	for {
		req, err := ss.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := asked(req.GetResponseStatus()); err != nil {
			return err
		}
		if err := respond(req, ss.Context(), ss.Send); err != nil {
			return err
		}
	}
}

// respond sends what req asks for, with the pauses that it asks for.
//
//nolint:revive // the context of a stream comes with it
func respond(req *testgrpc.StreamingOutputCallRequest, ctx context.Context, send func(*testgrpc.StreamingOutputCallResponse) error) error {
	for _, p := range req.GetResponseParameters() {
		if err := wait(ctx, time.Duration(p.GetIntervalUs())*time.Microsecond); err != nil {
			return err
		}
		if err := send(&testgrpc.StreamingOutputCallResponse{Payload: payload(p.GetSize())}); err != nil {
			return err
		}
	}
	return nil
}

// sendBack returns the metadata that a test asks for.
func sendBack(ctx context.Context, header func(metadata.MD) error, trailer func(metadata.MD)) {
	md, _ := metadata.FromIncomingContext(ctx)
	if v := md[echoInitial]; len(v) > 0 {
		_ = header(metadata.MD{echoInitial: v})
	}
	if v := md[echoTrailing]; len(v) > 0 {
		trailer(metadata.MD{echoTrailing: v})
	}
}

func asked(s *testgrpc.EchoStatus) error {
	if s.GetCode() == 0 {
		return nil
	}
	return status.Error(codes.Code(s.GetCode()), s.GetMessage())
}

func payload(size int32) *testgrpc.Payload { return &testgrpc.Payload{Body: make([]byte, size)} }
