package grpcmw_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/grpcmw"
)

// counted returns interceptors that count in n what goes through them.
func counted(n map[string]int, name string) grpcmw.Inner {
	return grpcmw.Inner{
		Unary: func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
			n[name]++
			return invoke(ctx, method, req, reply, cc, options...)
		},
		Stream: func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
			n[name]++
			return open(ctx, desc, cc, method, options...)
		},
	}
}

func TestEachTargetMayHaveInterceptorsInsideOfItsPolicies(t *testing.T) {
	set, seen := byMethod{"/a.A/Get": attempting("a", 2), "/plain.P/Get": attempting("plain", 2)}, map[string]int{}
	r, err := grpcmw.NewRouter(set, grpcmw.WithInner(func(target middleware.Target) grpcmw.Inner {
		if target.Name == "plain" {
			return grpcmw.Inner{}
		}
		return counted(seen, target.Name)
	}), grpcmw.WithPassThrough("/passed.P/Get"))
	if err != nil {
		t.Fatal(err)
	}
	set["/late.L/Get"] = attempting("late", 4)
	for method, want := range map[string]int{"/a.A/Get": 2, "/plain.P/Get": 2, "/late.L/Get": 4, "/passed.P/Get": 1} {
		if n, err := sent(r, method); n != want || status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %d attempts, want %d: %v", method, n, want, err)
		}
	}
	if want := map[string]int{"a": 2, "late": 4}; !maps.Equal(seen, want) {
		t.Errorf("attempts through the interceptors: %v, want %v", seen, want)
	}
}

func TestAStreamIsOpenedInsideOfItsTargetsInterceptors(t *testing.T) {
	virtual(t, func(t *testing.T) {
		seen := map[string]int{}
		cc := connect(t, lister(nil, down), retries(), reads(), grpcmw.WithInner(func(target middleware.Target) grpcmw.Inner {
			return counted(seen, target.Name)
		}))
		cs, err := open(t.Context(), cc, "x")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := receive(cs); len(got) != 3 || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if want := map[string]int{retries().Name: 2}; !maps.Equal(seen, want) {
			t.Errorf("attempts through the interceptors: %v, want %v", seen, want)
		}
	})
}

func TestWhatAnInnerInterceptorAnswersIsAnAttempt(t *testing.T) {
	why, calls := errors.New("injected"), 0
	target := *attempting("a", 3)
	c := client(t, target, grpcmw.WithInner(func(middleware.Target) grpcmw.Inner {
		return grpcmw.Inner{Unary: func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
			if calls++; calls == 1 {
				return errors.Join(status.Error(codes.Unavailable, "down"), why)
			}
			return invoke(ctx, method, req, reply, cc, options...)
		}}
	}))
	e := &echo{say: func(context.Context, *text) (*text, error) { return &text{Value: "hello"}, nil }}
	got := new(text)
	if err := dial(t, e.serve(t), c).Invoke(t.Context(), say, new(text), got); err != nil || got.GetValue() != "hello" || calls != 2 {
		t.Errorf("%v, %v, %d attempts, want 2", got, err, calls)
	}
}
