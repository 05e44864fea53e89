package grpcmw_test

import (
	"context"
	"errors"
	"fmt"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/grpcmw"
	"github.com/backstay-go/backstay/retry"
)

// start runs a server in memory and returns how to dial it.
func start(e *echo, options ...grpc.ServerOption) (dialling []grpc.DialOption, stop func()) {
	listener := bufconn.Listen(64 << 10)
	s := grpc.NewServer(options...)
	s.RegisterService(e.desc(), nil)
	go func() { _ = s.Serve(listener) }()
	return []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
	}, s.Stop
}

// A report tells what a call went through.
func ExampleNewClient() {
	dialling, stop := start(failing(1, status.Error(codes.Unavailable, "deploying")))
	defer stop()

	target := middleware.Standard("stock")
	target.Retry = &retry.Config{Base: retry.NoWait}
	client, err := grpcmw.NewClient(target, grpcmw.WithReads("/backstay.test.Echo/Say"))
	if err != nil {
		fmt.Println(err)
		return
	}
	conn, err := grpc.NewClient("passthrough:///stock", append(client.DialOptions(), dialling...)...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()

	ctx, report := backstay.WithReport(context.Background())
	reply := new(wrapperspb.StringValue)
	err = conn.Invoke(ctx, "/backstay.test.Echo/Say", wrapperspb.String("hello"), reply)
	fmt.Println(reply.GetValue(), err, "-", report)
	// Output: re: hello <nil> - success after 2 attempts
}

// A refusal is a status like any other, and told from a failure by ErrRejected.
func ExampleClient_rejected() {
	dialling, stop := start(failing(0, nil))
	defer stop()
	client, err := grpcmw.NewClient(middleware.Standard("stock"))
	if err != nil {
		fmt.Println(err)
		return
	}
	conn, err := grpc.NewClient("passthrough:///stock", append(client.DialOptions(), dialling...)...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()

	client.Pipelines().Get("stock", backstay.Now()).Breaker().ForceOpen()
	err = conn.Invoke(context.Background(), "/backstay.test.Echo/Say", wrapperspb.String("hello"), new(wrapperspb.StringValue))
	fmt.Println(status.Code(err), errors.Is(err, backstay.ErrRejected))
	// Output: Unavailable true
}

// A fallback fills the caller's reply.
func ExampleAnswer() {
	dialling, stop := start(failing(9, status.Error(codes.Unavailable, "down")))
	defer stop()
	client, err := grpcmw.NewClient(middleware.Standard("prices"), grpcmw.WithFallback(
		grpcmw.Answer("list price", "/backstay.test.Echo/Say",
			func(_ context.Context, req *wrapperspb.StringValue, _ error) (*wrapperspb.StringValue, error) {
				return wrapperspb.String("list price of " + req.GetValue()), nil
			}),
	))
	if err != nil {
		fmt.Println(err)
		return
	}
	conn, err := grpc.NewClient("passthrough:///prices", append(client.DialOptions(), dialling...)...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()

	reply := new(wrapperspb.StringValue)
	err = conn.Invoke(context.Background(), "/backstay.test.Echo/Say", wrapperspb.String("tea"), reply)
	fmt.Println(reply.GetValue(), err)
	// Output: list price of tea <nil>
}

// A server takes up deadlines, sheds load, and does keyed work once.
func ExampleNewServer() {
	store, err := idempotency.NewMemory(idempotency.MemoryConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	server, err := grpcmw.NewServer(middleware.Server{
		Name:        "payments",
		Deadline:    &deadline.IncomingConfig{},
		Bulkhead:    &bulkhead.Config{Limit: 200},
		Idempotency: &idempotency.GuardConfig{},
	}, grpcmw.ServerStore(store))
	if err != nil {
		fmt.Println(err)
		return
	}
	charges := counting(0)
	dialling, stop := start(charges, server.ServerOptions()...)
	defer stop()
	conn, err := grpc.NewClient("passthrough:///payments", dialling...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()

	ctx := keyed(context.Background(), `"8e03978e-40d5-43dd-bc93-6894a57f9324"`)
	for range 2 {
		reply := new(wrapperspb.StringValue)
		err := conn.Invoke(ctx, "/backstay.test.Echo/Say", wrapperspb.String("charge"), reply)
		fmt.Println(reply.GetValue(), err)
	}
	fmt.Println("charged", charges.calls.Load(), "time")
	// Output:
	// charge 1 <nil>
	// charge 1 <nil>
	// charged 1 time
}
