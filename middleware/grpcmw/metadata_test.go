package grpcmw_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/grpcmw"
)

func outgoing(pairs ...string) func(context.Context) context.Context {
	return func(ctx context.Context) context.Context { return metadata.AppendToOutgoingContext(ctx, pairs...) }
}

// A key that cannot be used is refused here, by unary calls and streams alike.
func TestAKeyThatCannotBeUsedIsRefusedBeforeAnythingIsSent(t *testing.T) {
	with := func(key string) func(context.Context) context.Context {
		return func(ctx context.Context) context.Context { return idempotency.WithKey(ctx, key) }
	}
	for name, ctx := range map[string]func(context.Context) context.Context{
		"too long":                      with(strings.Repeat("k", 256)),
		"not ASCII":                     with("schlüssel"),
		"not UTF-8":                     with("k\xff"),
		"a control character":           with("k\n"),
		"twice in the metadata":         outgoing("idempotency-key", "a", "Idempotency-Key", "b"),
		"empty in the metadata":         outgoing("idempotency-key", ""),
		"an open quote":                 outgoing("idempotency-key", `"a`),
		"too long in the metadata":      outgoing("idempotency-key", strings.Repeat("k", 256)),
		"not UTF-8 in the metadata":     outgoing("idempotency-key", "k\xff"),
		"two in one, joined by a proxy": outgoing("idempotency-key", `"a", "b"`),
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				e := lister(nil)
				e.say = failing(0, nil).say
				cc := connect(t, e, retries())
				_, err := call(ctx(t.Context()), cc, "x")
				code(t, err, codes.InvalidArgument)
				if !errors.Is(err, idempotency.ErrKeyInvalid) {
					t.Errorf("got %v", err)
				}
				_, err = open(ctx(t.Context()), cc, "x")
				code(t, err, codes.InvalidArgument)
				if e.calls.Load() != 0 {
					t.Errorf("%d calls", e.calls.Load())
				}
			})
		})
	}
}

func TestAKeyCannotTravelInBinaryMetadata(t *testing.T) {
	for header, fine := range map[string]bool{
		"": true, "Request-Id": true, "request_id.v2": true, "Idempotency-Key-Bin": false, "key!": false,
	} {
		target := middleware.Target{Name: "test", Config: middleware.Config{Idempotency: &idempotency.Config{Header: header}}}
		_, err := grpcmw.NewClient(target)
		if (err == nil) != fine || (err != nil && !strings.Contains(err.Error(), "idempotency.header")) {
			t.Errorf("%q: %v", header, err)
		}
	}
}

// Metadata of the caller's that gRPC allows comes through as it is.
func TestBinaryAndLargeMetadataComesThroughEveryAttempt(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := failing(2, down)
		large := strings.Repeat("v", 16<<10)
		ctx := metadata.AppendToOutgoingContext(t.Context(), "raw-bin", "\xff\x00\n", "large", large, "twice", "a", "twice", "b")
		if _, err := call(ctx, connect(t, e, retries(), reads()), "x"); err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 3; n++ {
			if e.metadata(n, "raw-bin")[0] != "\xff\x00\n" || e.metadata(n, "large")[0] != large || len(e.metadata(n, "twice")) != 2 {
				t.Errorf("call %d came with %q", n, e.seen[n-1])
			}
		}
	})
}

// What grpc-go itself refuses to send says nothing of the backend: it is not
// repeated, and the breaker does not count it.
func TestACallThatCannotBeSentIsItsCallersMistake(t *testing.T) {
	for _, c := range []struct {
		name    string
		ctx     func(context.Context) context.Context
		req     any
		options []grpc.CallOption
		want    codes.Code
	}{
		{"metadata that is not ASCII", outgoing("name", "schlüssel"), wrapperspb.String("x"), nil, codes.Internal},
		{"metadata that is not UTF-8", outgoing("name", "\xff"), wrapperspb.String("x"), nil, codes.Internal},
		{"a key of metadata that is none", outgoing("na me", "x"), wrapperspb.String("x"), nil, codes.Internal},
		{"text that is not UTF-8", nil, wrapperspb.String("\xff"), nil, codes.Internal},
		{"a message that is too long", nil, wrapperspb.String("hello"), []grpc.CallOption{grpc.MaxCallSendMsgSize(3)}, codes.ResourceExhausted},
		{"a compressor that is not installed", nil, wrapperspb.String("x"), []grpc.CallOption{grpc.UseCompressor("none-such")}, codes.Internal},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				target := retries()
				target.Breaker = &breaker.Config{Window: 10, MinCalls: 5}
				policies := client(t, target, reads(), grpcmw.WithRetryable(codes.Internal, codes.ResourceExhausted))
				cc := dial(t, failing(0, nil).serve(t), policies)
				ctx := t.Context()
				if c.ctx != nil {
					ctx = c.ctx(ctx)
				}
				for range 10 {
					ctx, report := backstay.WithReport(ctx)
					err := cc.Invoke(ctx, say, c.req, new(text), c.options...)
					code(t, err, c.want)
					if s := report.Summary(); s.Attempts != 1 || s.Outcome.Class != backstay.Permanent {
						t.Errorf("the report says %v", s)
					}
				}
				if state := policies.Pipelines().Get("echo", backstay.Now()).Breaker().State(); state != breaker.Closed {
					t.Errorf("the breaker is %v", state)
				}
			})
		})
	}
}

// A server's own INTERNAL counts, with and without words of its.
func TestAServersInternalErrorIsNoMistakeOfTheCallers(t *testing.T) {
	virtual(t, func(t *testing.T) {
		ctx, report := backstay.WithReport(t.Context())
		cc := connect(t, scripted(after(0, "", errInternal)), retries(), reads())
		_, err := call(ctx, cc, "x")
		code(t, err, codes.Internal)
		if s := report.Summary(); s.Outcome.Class != backstay.Fault {
			t.Errorf("the report says %v", s)
		}
	})
}
