package bench

import (
	"context"
	"net"
	"testing"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/failsafegrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay/middleware/grpcmw"
)

// BenchmarkUnary compares the whole stack under a grpc.ClientConn whose server
// answers from memory. "deadline" has no library: it is what a bound for each
// call costs, which every careful caller pays.
func BenchmarkUnary(b *testing.B) {
	listener := echoServer(b)
	libraries := []library{
		invoking(b, "bare", listener),
		deadlined(invoking(b, "deadline", listener)),
		invoking(b, "backstay", listener, must(grpcmw.NewClient(backstayTarget(true))).DialOptions()...),
		invoking(b, "failsafe-go", listener, grpc.WithUnaryInterceptor(failsafeInterceptor())),
	}
	compare(b, "timer", succeeds, libraries...)
	within(b, "bounded", succeeds, libraries...)
	inTurns(b, "timer-in-turns", succeeds, libraries...)
}

// deadlined bounds every call, as a caller does who has nothing else.
func deadlined(l library) library {
	call := l.call
	l.call = func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
		defer cancel()
		return call(ctx)
	}
	return l
}

func failsafeInterceptor() grpc.UnaryClientInterceptor {
	retry := failsafeRetryOf(failsafegrpc.NewRetryPolicyBuilder[any](), true)
	return failsafegrpc.NewUnaryClientInterceptorWithExecutor(failsafe.With(failsafePolicies[any](retry)...))
}

// invoking returns a call of a unary method over a connection of its own.
func invoking(b *testing.B, name string, listener *bufconn.Listener, options ...grpc.DialOption) library {
	b.Helper()
	cc := must(grpc.NewClient("passthrough:///backend", append(options,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
	)...))
	b.Cleanup(func() { _ = cc.Close() })
	req := wrapperspb.String("hello")
	return library{name: name, call: func(ctx context.Context) error {
		return cc.Invoke(ctx, "/bench.Echo/Say", req, new(wrapperspb.StringValue))
	}}
}

// echoServer serves one unary method, described by hand.
func echoServer(b *testing.B) *bufconn.Listener {
	b.Helper()
	answer := wrapperspb.String("hello")
	say := func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		return answer, decode(new(wrapperspb.StringValue))
	}
	listener := bufconn.Listen(64 << 10)
	s := grpc.NewServer()
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "bench.Echo", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Say", Handler: say}},
	}, nil)
	go func() { _ = s.Serve(listener) }()
	b.Cleanup(s.Stop)
	return listener
}
