package chaos_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/chaos"
	"github.com/backstay-go/backstay/middleware/grpcmw"
)

// asStatus is how a network's error looks in gRPC.
func asStatus(e *chaos.InjectedError) error {
	if errors.Is(e, context.DeadlineExceeded) {
		return status.Error(codes.DeadlineExceeded, e.Error())
	}
	return status.Error(codes.Unavailable, e.Error())
}

// injecting is the interceptor of the package's documentation.
func injecting(faults *chaos.Injector) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, in, out any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		md, _ := metadata.FromOutgoingContext(ctx)
		host := (&grpcmw.Request{Target: cc.Target()}).Host() // stock:443 of dns:///stock:443
		_, err := chaos.Do(ctx, faults, chaos.Request{Host: host, Path: method, Header: md},
			func(ctx context.Context) (struct{}, error) {
				return struct{}{}, invoke(ctx, method, in, out, cc, opts...)
			})
		return err
	}
}

func TestFaultsOfAGRPCMethodAreStatuses(t *testing.T) {
	for kind, want := range map[middleware.FaultKind]codes.Code{
		middleware.FaultRefused:   codes.Unavailable,
		middleware.FaultReset:     codes.Unavailable,
		middleware.FaultBlackHole: codes.DeadlineExceeded,
	} {
		f := fault(kind)
		f.Match = middleware.FaultMatch{Host: "stock.test", Route: "/inventory.v1.Stock/{method}", Header: "X-Chaos", Value: "on"}
		faults, err := chaos.New([]middleware.Fault{f}, chaos.WithError(asStatus))
		if err != nil {
			t.Fatal(err)
		}
		sent := 0
		last := func(ctx context.Context, method string, in, out any, cc *grpc.ClientConn, _ grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			sent++
			return nil
		}
		conn, err := grpc.NewClient("passthrough:///stock.test", grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithChainUnaryInterceptor(injecting(faults), last))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		marked := metadata.AppendToOutgoingContext(ctx, "x-chaos", "on")
		err = conn.Invoke(marked, "/inventory.v1.Stock/Get", &emptypb.Empty{}, &emptypb.Empty{})
		mark, ok := errors.AsType[*chaos.InjectedError](err)
		if status.Code(err) != want || !ok || mark.Kind != kind || sent != 0 {
			t.Errorf("%s: %v, sent %d", kind, err, sent)
		}
		for _, method := range []string{"/inventory.v1.Stock/Get", "/inventory.v1.Orders/Get"} {
			if err := conn.Invoke(t.Context(), method, &emptypb.Empty{}, &emptypb.Empty{}); err != nil {
				t.Errorf("%s, %s: %v", kind, method, err)
			}
		}
		cancel()
		_ = conn.Close()
	}
}
