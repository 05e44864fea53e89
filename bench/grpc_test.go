package bench

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/failsafegrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay/middleware/grpcmw"
)

// BenchmarkUnary compares the whole stack under a grpc.ClientConn whose server
// answers from memory. "deadline" has no library: it is what a bound for each
// call costs, which every careful caller pays. "by-hand" is the least that any
// stack of the same policies can cost: see [handmade].
func BenchmarkUnary(b *testing.B) {
	listener := echoServer(b)
	libraries := []library{
		invoking(b, "bare", listener),
		deadlined(invoking(b, "deadline", listener)),
		invoking(b, "by-hand", listener, grpc.WithUnaryInterceptor(new(handmade).unary)),
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

// handmade is one call of the whole stack that goes well, with everything left
// out that only other calls need: no key, no second attempt, no observer, no
// other error. A permit is counted, the breaker is looked at, the budget is
// paid into, the call is bounded, and grpc-go is asked for what judges an
// attempt: its trailer, its peer, its end.
type handmade struct {
	inFlight, earned atomic.Int64
	open             atomic.Bool
}

// attempt is what grpc-go tells of one.
type attempt struct {
	trailer metadata.MD
	via     peer.Peer
	ended   bool
	room    [3]grpc.CallOption
}

func (a *attempt) end(error) { a.ended = true }

func (h *handmade) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, options ...grpc.CallOption) error {
	h.earned.Add(100)
	defer h.inFlight.Add(-1)
	if h.inFlight.Add(1) > limit || h.open.Load() {
		return errRefused
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	a := new(attempt)
	watching := append(append(a.room[:0], options...), grpc.Trailer(&a.trailer), grpc.Peer(&a.via), grpc.OnFinish(a.end))
	err := invoker(ctx, method, req, reply, cc, watching...)
	h.open.Store(err != nil)
	return err
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
