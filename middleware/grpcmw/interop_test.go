package grpcmw_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/grpcmw"
	"github.com/backstay-go/backstay/timeout"
)

// transcript is what a test sees, line by line.
type transcript []string

func (s *transcript) note(format string, args ...any) { *s = append(*s, fmt.Sprintf(format, args...)) }

// ended notes how a call ended.
func (s *transcript) ended(err error) {
	st, ok := status.FromError(err)
	s.note("%v %q, a status: %v, %d details", st.Code(), st.Message(), ok, len(st.Details()))
}

// scenarios are the tests of gRPC's interoperability suite that need neither
// credentials nor compression.
var scenarios = []struct {
	name string
	run  func(ctx context.Context, s *transcript, c testgrpc.TestServiceClient, cc *grpc.ClientConn)
}{
	{"empty_unary", func(ctx context.Context, s *transcript, c testgrpc.TestServiceClient, _ *grpc.ClientConn) {
		_, err := c.EmptyCall(ctx, new(testgrpc.Empty))
		s.ended(err)
	}},
	{"large_unary", func(ctx context.Context, s *transcript, c testgrpc.TestServiceClient, _ *grpc.ClientConn) {
		r, err := c.UnaryCall(ctx, &testgrpc.SimpleRequest{ResponseSize: 314159, Payload: payload(271828)})
		s.note("%d bytes", len(r.GetPayload().GetBody()))
		s.ended(err)
	}},
	{"client_streaming", func(ctx context.Context, s *transcript, c testgrpc.TestServiceClient, _ *grpc.ClientConn) {
		cs, err := c.StreamingInputCall(ctx)
		s.ended(err)
		for _, size := range []int32{27182, 8, 1828, 45904} {
			s.ended(cs.Send(&testgrpc.StreamingInputCallRequest{Payload: payload(size)}))
		}
		r, err := cs.CloseAndRecv()
		s.note("%d bytes", r.GetAggregatedPayloadSize())
		s.ended(err)
	}},
	{"server_streaming", func(ctx context.Context, s *transcript, c testgrpc.TestServiceClient, _ *grpc.ClientConn) {
		cs, err := c.StreamingOutputCall(ctx, outputs(31415, 9, 2653, 58979))
		s.ended(err)
		s.receive(cs)
	}},
	{"ping_pong", func(ctx context.Context, s *transcript, c testgrpc.TestServiceClient, _ *grpc.ClientConn) {
		cs, err := c.FullDuplexCall(ctx)
		s.ended(err)
		for _, size := range []int32{31415, 9, 2653, 58979} {
			s.ended(cs.Send(outputs(size)))
			r, err := cs.Recv()
			s.note("%d bytes, %v", len(r.GetPayload().GetBody()), err)
		}
		s.ended(cs.CloseSend())
		s.receive(cs)
	}},
	{"empty_stream", func(ctx context.Context, s *transcript, c testgrpc.TestServiceClient, _ *grpc.ClientConn) {
		cs, err := c.FullDuplexCall(ctx)
		s.ended(err)
		s.ended(cs.CloseSend())
		s.receive(cs)
	}},
	{"cancel_after_begin", func(ctx context.Context, s *transcript, c testgrpc.TestServiceClient, _ *grpc.ClientConn) {
		ctx, cancel := context.WithCancel(ctx)
		cs, err := c.StreamingInputCall(ctx)
		s.ended(err)
		cancel()
		synctest.Wait() // else the end of the stream, which the server answers, may overtake the cancellation
		_, err = cs.CloseAndRecv()
		s.note("%v", status.Code(err))
	}},
	{"cancel_after_first_response", func(ctx context.Context, s *transcript, c testgrpc.TestServiceClient, _ *grpc.ClientConn) {
		ctx, cancel := context.WithCancel(ctx)
		cs, err := c.FullDuplexCall(ctx)
		s.ended(err)
		s.ended(cs.Send(outputs(31415)))
		r, err := cs.Recv()
		s.note("%d bytes, %v", len(r.GetPayload().GetBody()), err)
		cancel()
		_, err = cs.Recv()
		s.ended(err)
	}},
	{"timeout_on_sleeping_server", func(ctx context.Context, s *transcript, c testgrpc.TestServiceClient, _ *grpc.ClientConn) {
		ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		cs, err := c.FullDuplexCall(ctx)
		s.ended(err)
		_ = cs.Send(&testgrpc.StreamingOutputCallRequest{Payload: payload(27182)})
		_, err = cs.Recv()
		s.note("%v", status.Code(err))
	}},
	{"custom_metadata", func(ctx context.Context, s *transcript, c testgrpc.TestServiceClient, _ *grpc.ClientConn) {
		ctx = metadata.AppendToOutgoingContext(ctx, echoInitial, "test_initial_metadata_value", echoTrailing, "\xab\xab\xab\x00")
		var header, trailer metadata.MD
		_, err := c.UnaryCall(ctx, &testgrpc.SimpleRequest{ResponseSize: 1}, grpc.Header(&header), grpc.Trailer(&trailer))
		s.note("%q %q %v", header, trailer, err)

		cs, err := c.FullDuplexCall(ctx)
		s.ended(err)
		s.ended(cs.Send(outputs(1)))
		s.ended(cs.CloseSend())
		header, err = cs.Header()
		s.note("%q, %v", header, err)
		s.receive(cs)
		s.note("%q", cs.Trailer())
	}},
	{"status_code_and_message", func(ctx context.Context, s *transcript, c testgrpc.TestServiceClient, _ *grpc.ClientConn) {
		s.told(ctx, c, &testgrpc.EchoStatus{Code: 2, Message: "test status message"})
	}},
	{"special_status_message", func(ctx context.Context, s *transcript, c testgrpc.TestServiceClient, _ *grpc.ClientConn) {
		s.told(ctx, c, &testgrpc.EchoStatus{Code: 2, Message: "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n"})
	}},
	{"unimplemented_method", func(ctx context.Context, s *transcript, c testgrpc.TestServiceClient, _ *grpc.ClientConn) {
		_, err := c.UnimplementedCall(ctx, new(testgrpc.Empty))
		s.ended(err)
		cs, err := c.HalfDuplexCall(ctx)
		s.ended(err)
		s.receive(cs)
	}},
	{"unimplemented_service", func(ctx context.Context, s *transcript, _ testgrpc.TestServiceClient, cc *grpc.ClientConn) {
		_, err := testgrpc.NewUnimplementedServiceClient(cc).UnimplementedCall(ctx, new(testgrpc.Empty))
		s.ended(err)
	}},
}

// told notes the status that a unary call and a stream come back with.
func (s *transcript) told(ctx context.Context, c testgrpc.TestServiceClient, want *testgrpc.EchoStatus) {
	_, err := c.UnaryCall(ctx, &testgrpc.SimpleRequest{ResponseStatus: want})
	s.ended(err)
	cs, err := c.FullDuplexCall(ctx)
	s.ended(err)
	s.ended(cs.Send(&testgrpc.StreamingOutputCallRequest{ResponseStatus: want}))
	s.ended(cs.CloseSend())
	s.receive(cs)
}

// receive notes what comes until the stream ends.
func (s *transcript) receive(cs interface {
	Recv() (*testgrpc.StreamingOutputCallResponse, error)
},
) {
	for {
		r, err := cs.Recv()
		if errors.Is(err, io.EOF) {
			s.note("the end")
			return
		}
		if err != nil {
			s.ended(err)
			return
		}
		s.note("%d bytes", len(r.GetPayload().GetBody()))
	}
}

func outputs(sizes ...int32) *testgrpc.StreamingOutputCallRequest {
	req := new(testgrpc.StreamingOutputCallRequest)
	for _, size := range sizes {
		req.ResponseParameters = append(req.ResponseParameters, &testgrpc.ResponseParameters{Size: size})
	}
	return req
}

// serveInterop runs the server of the interoperability tests.
func serveInterop(t *testing.T, options ...grpc.ServerOption) *bufconn.Listener {
	t.Helper()
	listener := bufconn.Listen(64 << 10)
	s := grpc.NewServer(append(options, grpc.WaitForHandlers(true))...)
	testgrpc.RegisterTestServiceServer(s, interop{})
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	return listener
}

func TestWithTheWholeStackCallersSeeWhatTheySeeWithout(t *testing.T) {
	whole := middleware.Standard("interop")
	hedging, leaving := whole, whole
	hedging.Hedge = &hedge.Config{Delay: time.Nanosecond}
	hedging.Idempotency = &idempotency.Config{Generate: true}
	leaving.Timeout = &timeout.Config{Abandon: true}
	for name, target := range map[string]middleware.Target{"standard": whole, "hedged": hedging, "abandoning": leaving} {
		for _, scenario := range scenarios {
			t.Run(name+"/"+scenario.name, func(t *testing.T) {
				virtual(t, func(t *testing.T) {
					bare, stacked := new(transcript), new(transcript)
					cc := dial(t, serveInterop(t), nil)
					scenario.run(t.Context(), bare, testgrpc.NewTestServiceClient(cc), cc)

					cc = dial(t, serveInterop(t, wholeServer(t).ServerOptions()...), wholeClient(t, target))
					scenario.run(t.Context(), stacked, testgrpc.NewTestServiceClient(cc), cc)
					if len(*bare) == 0 || !slices.Equal(*bare, *stacked) {
						t.Errorf("without the stack\n%q\nand with it\n%q", *bare, *stacked)
					}
				})
			})
		}
	}
}

// wholeClient has every part that a client can have.
func wholeClient(t *testing.T, target middleware.Target) *grpcmw.Client {
	t.Helper()
	return client(t, target,
		grpcmw.WithReads("/grpc.testing.TestService/"),
		grpcmw.WithFirstAnswer(time.Minute),
		grpcmw.WithStaleCache(grpcmw.StaleCache{
			Key: func(_ context.Context, q *grpcmw.Request) string { return q.Method }, Refresh: true,
		}))
}

// wholeServer has every part that a server can have.
func wholeServer(t *testing.T) *grpcmw.Server {
	t.Helper()
	store, err := idempotency.NewMemory(idempotency.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	c := middleware.StandardServer("interop")
	c.Idempotency = &idempotency.GuardConfig{}
	return server(t, c, grpcmw.ServerStore(store))
}
