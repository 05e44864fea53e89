package grpcmw_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware/grpcmw"
)

// declare links a file into the program whose methods state their levels.
var declare = sync.OnceValue(func() error {
	method := func(name string, level descriptorpb.MethodOptions_IdempotencyLevel) *descriptorpb.MethodDescriptorProto {
		return &descriptorpb.MethodDescriptorProto{
			Name: new(name), InputType: new(".google.protobuf.StringValue"), OutputType: new(".google.protobuf.StringValue"),
			Options: &descriptorpb.MethodOptions{IdempotencyLevel: level.Enum()},
		}
	}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: new("backstay/test/levels.proto"), Package: new("backstay.levels"), Syntax: new("proto3"),
		Dependency: []string{"google/protobuf/wrappers.proto"},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: new("Levels"), Method: []*descriptorpb.MethodDescriptorProto{
			method("Read", descriptorpb.MethodOptions_NO_SIDE_EFFECTS),
			method("Put", descriptorpb.MethodOptions_IDEMPOTENT),
			method("Post", descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN),
		}}},
	}, protoregistry.GlobalFiles)
	if err != nil {
		return err
	}
	return protoregistry.GlobalFiles.RegisterFile(file)
})

func TestTheLevelInTheProtoFileSaysWhatMayBeRepeatedAndHedged(t *testing.T) {
	if err := declare(); err != nil {
		t.Fatal(err)
	}
	c := client(t, retries())
	for method, want := range map[string]int{"Read": 3, "Put": 3, "Post": 1, "Unknown": 1} {
		calls := 0
		_ = c.Unary(t.Context(), "/backstay.levels.Levels/"+method, nil, &text{}, nil,
			func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
				calls++
				return status.Error(codes.Unavailable, "down")
			})
		if calls != want {
			t.Errorf("%s is called %d times, want %d", method, calls, want)
		}
	}
}

func TestOnlyReadsAreHedgedByTheirLevel(t *testing.T) {
	if err := declare(); err != nil {
		t.Fatal(err)
	}
	virtual(t, func(t *testing.T) {
		target := only("test")
		target.Hedge = &hedge.Config{Delay: time.Millisecond}
		c := client(t, target)
		for method, want := range map[string]int64{"Read": 2, "Put": 1, "Post": 1} {
			var calls atomic.Int64
			_ = c.Unary(t.Context(), "/backstay.levels.Levels/"+method, nil, &text{}, nil,
				func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
					calls.Add(1)
					return wait(ctx, 10*time.Millisecond)
				})
			if calls.Load() != want {
				t.Errorf("%s is called %d times, want %d", method, calls.Load(), want)
			}
		}
		_ = c.Close(t.Context())
	})
}

func TestKeysAreNamesOfBoundedNumber(t *testing.T) {
	c := fakeConn(t)
	for name, key := range map[string]func(*grpcmw.Request) string{
		"echo": (*grpcmw.Request).Host, "echo/backstay.test.Echo": grpcmw.ByService, "echo" + say: grpcmw.ByMethod,
	} {
		cl := client(t, only("test"), grpcmw.WithKey(key))
		_ = cl.Unary(t.Context(), say, nil, &text{}, c, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil })
		for got := range cl.Pipelines().All {
			if got != name {
				t.Errorf("got %q, want %q", got, name)
			}
		}
		if cl.Pipelines().Len() != 1 {
			t.Errorf("%d keys", cl.Pipelines().Len())
		}
	}
	for target, host := range map[string]string{
		"dns:///stock:443": "stock:443", "stock:443": "stock:443", "dns://8.8.8.8/stock": "stock", "unix:///run/s.sock": "unix:///run/s.sock",
	} {
		if got := (&grpcmw.Request{Target: target}).Host(); got != host {
			t.Errorf("%s is %s, want %s", target, got, host)
		}
	}
}

func TestAKeyFunctionThatIsNilIsTheDefault(t *testing.T) {
	cc := connect(t, lister(nil), only("test"), grpcmw.WithKey(nil))
	cs, err := open(t.Context(), cc, "x")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := receive(cs); len(got) != 3 || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}
