package otel_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay/middleware/grpcmw"
	"github.com/backstay-go/backstay/middleware/otelmw"
)

const say = "/backstay.test.Echo/Say"

// echo serves an RPC that fails twice, beside otelgrpc.
func echo(t *testing.T, s *service) *bufconn.Listener {
	var requests atomic.Int64
	listener := bufconn.Listen(64 << 10)
	server := grpc.NewServer(grpc.WaitForHandlers(true), grpc.StatsHandler(otelgrpc.NewServerHandler(
		otelgrpc.WithTracerProvider(s.tracers), otelgrpc.WithMeterProvider(s.meters), otelgrpc.WithPropagators(carrier))))
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "backstay.test.Echo", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Say", Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			req := new(wrapperspb.StringValue)
			if err := decode(req); err != nil {
				return nil, err
			}
			if requests.Add(1) < 3 {
				return nil, status.Error(codes.Unavailable, "warming up")
			}
			return req, nil
		}}},
	}, nil)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.GracefulStop)
	return listener
}

// call makes one RPC of the service, with the policies that o observes.
func (s *service) call(t *testing.T, o *otelmw.Observer, listener *bufconn.Listener, options ...grpc.DialOption) {
	t.Helper()
	client, err := grpcmw.NewClient(standard(), grpcmw.WithReads(say), grpcmw.WithObserver(o))
	if err != nil {
		t.Fatal(err)
	}
	options = append(client.DialOptions(), options...)
	conn, err := grpc.NewClient("passthrough:///echo", append(options,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
	)...)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, root := s.tracers.Tracer("buyer").Start(t.Context(), "talk")
	err = conn.Invoke(ctx, say, wrapperspb.String("soup"), new(wrapperspb.StringValue))
	root.End()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// wantTree checks a call of three attempts, each of which the server has
// served.
func (c *collector) wantTree(t *testing.T) (attempts []*span) {
	t.Helper()
	call := c.under(t, c.under(t, "", 1)[0].id(), 1)[0]
	if call.GetKind() != trace.Span_SPAN_KIND_INTERNAL || call.GetStatus().GetCode() != trace.Status_STATUS_CODE_UNSET {
		t.Errorf("the call is %v, %v", call.GetKind(), call.GetStatus())
	}
	attempts = c.under(t, call.id(), 3)
	for i, attempt := range attempts {
		served := c.under(t, attempt.id(), 1)[0]
		if attempt.GetKind() != trace.Span_SPAN_KIND_CLIENT || served.GetKind() != trace.Span_SPAN_KIND_SERVER || served.service != "seller" {
			t.Errorf("attempt %d is %v, and under it %v of %s", i+1, attempt.GetKind(), served.GetKind(), served.service)
		}
	}
	return attempts
}

// The attempts' spans are otelgrpc's.
func TestOtelgrpcBelowMakesTheSpansOfAttempts(t *testing.T) {
	c := newCollector(t)
	buyer, seller := newService(t, c, "buyer"), newService(t, c, "seller")
	o := buyer.observer(t, otelmw.WithoutAttemptSpans())
	listener := echo(t, seller)
	buyer.call(t, o, listener, grpc.WithStatsHandler(otelgrpc.NewClientHandler(
		otelgrpc.WithTracerProvider(buyer.tracers), otelgrpc.WithMeterProvider(buyer.meters), otelgrpc.WithPropagators(carrier))))
	buyer.flush(t)
	seller.flush(t)
	for _, attempt := range c.wantTree(t) {
		if attempt.GetName() != say[1:] {
			t.Errorf("an attempt is called %q", attempt.GetName())
		}
	}
	if n := c.total("backstay.attempts", "backstay.policy=shop"); n != 3 {
		t.Errorf("%d attempts are counted", n)
	}
}

// The attempts' spans are ours, and an interceptor carries their context.
func TestAnInterceptorCarriesTheSpansOfAttempts(t *testing.T) {
	c := newCollector(t)
	buyer, seller := newService(t, c, "buyer"), newService(t, c, "seller")
	o := buyer.observer(t)
	buyer.call(t, o, echo(t, seller), grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
			o.Inject(ctx, func(field, value string) { ctx = metadata.AppendToOutgoingContext(ctx, field, value) })
			return invoke(ctx, method, req, reply, cc, options...)
		}))
	buyer.flush(t)
	seller.flush(t)
	for i, attempt := range c.wantTree(t) {
		if got, want := attempt.attr("http.request.resend_count"), []string{"", "1", "2"}[i]; got != want {
			t.Errorf("attempt %d has the resend count %q, want %q", i+1, got, want)
		}
	}
}
