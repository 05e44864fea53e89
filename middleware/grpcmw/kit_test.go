package grpcmw_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/grpcmw"
	"github.com/backstay-go/backstay/retry"
)

// text is the message of all tests.
type text = wrapperspb.StringValue

// The methods of the test's service.
const (
	say    = "/backstay.test.Echo/Say"    // unary
	list   = "/backstay.test.Echo/List"   // one request, many replies
	chat   = "/backstay.test.Echo/Chat"   // many of both
	gather = "/backstay.test.Echo/Gather" // many requests, one reply
)

// echo is a backend; nil functions are not called.
type echo struct {
	say    func(ctx context.Context, req *text) (*text, error)
	list   func(req *text, ss grpc.ServerStream) error
	chat   func(ss grpc.ServerStream) error
	gather func(ss grpc.ServerStream) error

	calls atomic.Int64
	mu    sync.Mutex
	seen  []metadata.MD // the metadata of every call
}

// came notes a call and returns its number, from 1.
func (e *echo) came(ctx context.Context) int {
	md, _ := metadata.FromIncomingContext(ctx)
	e.mu.Lock()
	e.seen = append(e.seen, md)
	e.mu.Unlock()
	return int(e.calls.Add(1))
}

// metadata returns what call n, from 1, sent under name.
func (e *echo) metadata(n int, name string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen[n-1].Get(name)
}

// desc describes the service by hand, so that no generated code is needed.
func (e *echo) desc() *grpc.ServiceDesc {
	return &grpc.ServiceDesc{
		ServiceName: "backstay.test.Echo", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Say", Handler: e.handleSay}},
		Streams: []grpc.StreamDesc{
			{StreamName: "List", ServerStreams: true, Handler: e.handleList},
			{StreamName: "Chat", ServerStreams: true, ClientStreams: true, Handler: func(_ any, ss grpc.ServerStream) error { return e.chat(ss) }},
			{StreamName: "Gather", ClientStreams: true, Handler: func(_ any, ss grpc.ServerStream) error { return e.gather(ss) }},
		},
	}
}

//nolint:revive // the signature is grpc-go's
func (e *echo) handleSay(_ any, ctx context.Context, decode func(any) error, chain grpc.UnaryServerInterceptor) (any, error) {
	req := new(text)
	if err := decode(req); err != nil {
		return nil, err
	}
	run := func(ctx context.Context, req any) (any, error) { return e.say(ctx, req.(*text)) }
	if chain == nil {
		return run(ctx, req)
	}
	return chain(ctx, req, &grpc.UnaryServerInfo{FullMethod: say}, run)
}

func (e *echo) handleList(_ any, ss grpc.ServerStream) error {
	req := new(text)
	if err := ss.RecvMsg(req); err != nil {
		return err
	}
	return e.list(req, ss)
}

// serve runs the backend in memory and returns where it listens.
func (e *echo) serve(t *testing.T, options ...grpc.ServerOption) *bufconn.Listener {
	t.Helper()
	listener := bufconn.Listen(64 << 10)
	s := grpc.NewServer(append(options, grpc.WaitForHandlers(true))...)
	s.RegisterService(e.desc(), nil)
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	return listener
}

// dial connects c with a listener; a nil c leaves the connection bare.
func dial(t *testing.T, listener *bufconn.Listener, c *grpcmw.Client, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	if c != nil {
		options = append(c.DialOptions(), options...)
	}
	options = append(options,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
	)
	cc, err := grpc.NewClient("passthrough:///echo", options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cc.Close()
		if c == nil {
			return
		}
		if err := c.Close(context.Background()); err != nil {
			t.Errorf("closing the client: %v", err)
		}
	})
	return cc
}

func client(t *testing.T, target middleware.Target, options ...grpcmw.Option) *grpcmw.Client {
	t.Helper()
	c, err := grpcmw.NewClient(target, options...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func server(t *testing.T, config middleware.Server, options ...grpcmw.ServerOption) *grpcmw.Server {
	t.Helper()
	s, err := grpcmw.NewServer(config, options...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// connect serves e and dials it under the policies of target.
func connect(t *testing.T, e *echo, target middleware.Target, options ...grpcmw.Option) *grpc.ClientConn {
	t.Helper()
	return dial(t, e.serve(t), client(t, target, options...))
}

// call calls say with s.
func call(ctx context.Context, cc *grpc.ClientConn, s string, options ...grpc.CallOption) (string, error) {
	reply := new(text)
	err := cc.Invoke(ctx, say, wrapperspb.String(s), reply, options...)
	return reply.GetValue(), err
}

// open opens a stream of replies, as generated code does.
func open(ctx context.Context, cc *grpc.ClientConn, s string, options ...grpc.CallOption) (grpc.ClientStream, error) {
	cs, err := cc.NewStream(ctx, &grpc.StreamDesc{StreamName: "List", ServerStreams: true}, list, options...)
	if err != nil {
		return nil, err
	}
	if err := cs.SendMsg(wrapperspb.String(s)); err != nil {
		return nil, err
	}
	return cs, cs.CloseSend()
}

// receive receives until the stream ends, and returns what came and the error
// that is not io.EOF.
func receive(cs grpc.ClientStream) (all []string, err error) {
	for {
		m := new(text)
		if err := cs.RecvMsg(m); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return all, err
		}
		all = append(all, m.GetValue())
	}
}

func only(name string) middleware.Target { return middleware.Target{Name: name} }

// retries returns a target with retries alone: no wait, no budget.
func retries() middleware.Target {
	t := only("test")
	t.Retry = &retry.Config{Base: retry.NoWait, Budget: retry.NoBudget}
	return t
}

// reads says that all methods of the test's service may be repeated and hedged.
func reads() grpcmw.Option { return grpcmw.WithReads("/backstay.test.Echo/") }

// virtual runs f in a bubble, where time passes only when all wait.
func virtual(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// code fails the test unless err has the code.
func code(t *testing.T, err error, want codes.Code) {
	t.Helper()
	if s, ok := status.FromError(err); !ok || s.Code() != want {
		t.Errorf("got %v (a status: %v), want %v", err, ok, want)
	}
}

// log collects events.
type log struct {
	mu     sync.Mutex
	events []backstay.Event
}

func (l *log) Observe(_ context.Context, e backstay.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

func (l *log) count(match func(backstay.Event) bool) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if match(e) {
			n++
		}
	}
	return n
}

// TestMain fails where a goroutine outlives the tests. Those of synctest
// bubbles are checked by the bubbles themselves.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := leaked(); code == 0 && len(left) > 0 {
		fmt.Fprintf(os.Stderr, "goroutines outlive the tests:\n\n%s\n", strings.Join(left, "\n\n"))
		code = 1
	}
	os.Exit(code)
}

// leaked returns the stacks of goroutines that use this module or grpc-go, once
// they had time to end.
func leaked() (left []string) {
	for range 500 {
		all := make([]byte, 1<<20)
		all = all[:runtime.Stack(all, true)]
		left = nil
		for i, stack := range strings.Split(string(all), "\n\n") {
			if i > 0 && (strings.Contains(stack, "backstay") || strings.Contains(stack, "google.golang.org/grpc")) {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return left
}
