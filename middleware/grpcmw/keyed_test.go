package grpcmw_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/grpcmw"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// guarded returns a server that does keyed work once.
func guarded(t *testing.T, c idempotency.GuardConfig, options ...grpcmw.ServerOption) *grpcmw.Server {
	t.Helper()
	store, err := idempotency.NewMemory(idempotency.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return server(t, middleware.Server{Idempotency: &c}, append(options, grpcmw.ServerStore(store))...)
}

func keyed(ctx context.Context, key string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "idempotency-key", key)
}

// counting returns a backend that takes d and answers with the number of the
// call, a header and a trailer.
func counting(d time.Duration) *echo {
	e := &echo{}
	e.say = func(ctx context.Context, req *text) (*text, error) {
		n := e.came(ctx)
		_ = grpc.SetHeader(ctx, metadata.Pairs("h", "1", "h-bin", "\xff\x00"))
		_ = grpc.SetTrailer(ctx, metadata.Pairs("t", "2"))
		if err := wait(ctx, d); err != nil {
			return nil, err
		}
		return wrapperspb.String(fmt.Sprintf("%s %d", req.GetValue(), n)), nil
	}
	return e
}

// Acceptance case C46.
func TestC46_AKeyIsWorkedOnOnce(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := counting(time.Second)
		cc := behind(t, e, guarded(t, idempotency.GuardConfig{}))
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if got, err := call(keyed(t.Context(), `"k"`), cc, "pay"); got != "pay 1" || err != nil {
					t.Errorf("got %q, %v", got, err)
				}
			})
		}
		synctest.Wait()
		_, err := call(keyed(t.Context(), "k"), cc, "pay more") // while in flight
		code(t, err, codes.InvalidArgument)
		all.Wait()

		var header, trailer metadata.MD
		got, err := call(keyed(t.Context(), "k"), cc, "pay", grpc.Header(&header), grpc.Trailer(&trailer))
		if got != "pay 1" || err != nil || header["idempotent-replayed"][0] != "true" ||
			header["h"][0] != "1" || header["h-bin"][0] != "\xff\x00" || trailer["t"][0] != "2" {
			t.Errorf("replayed %q, %v, %v, %v", got, err, header, trailer)
		}
		_, err = call(keyed(t.Context(), "k"), cc, "pay more")
		code(t, err, codes.InvalidArgument)
		if got, _ := call(keyed(t.Context(), "another"), cc, "pay"); got != "pay 2" {
			t.Errorf("another key got %q", got)
		}
		if got, _ := call(t.Context(), cc, "pay"); got != "pay 3" {
			t.Errorf("without a key got %q", got)
		}
	})
}

// Acceptance case C46.
func TestC46_WhatInFlightIsRefusedTellsWhenToComeBack(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := counting(3 * time.Second)
		s := guarded(t, idempotency.GuardConfig{MaxWait: idempotency.NoWait})
		listener := e.serve(t, s.ServerOptions()...)
		bare := dial(t, listener, nil)
		go func() { _, _ = call(keyed(t.Context(), "k"), bare, "pay") }()
		synctest.Wait()
		_, err := call(keyed(t.Context(), "k"), bare, "pay")
		code(t, err, codes.Aborted)
		details := status.Convert(err).Details()
		if len(details) != 2 || details[0].(*errdetails.ErrorInfo).GetReason() != "KEY_IN_FLIGHT" ||
			details[1].(*errdetails.RetryInfo).GetRetryDelay().AsDuration() != time.Second {
			t.Errorf("the details are %v", details)
		}
		// A client that sent the key survives it.
		target := only("test")
		target.Retry = &retry.Config{MaxAttempts: 9, Budget: retry.NoBudget}
		cc := dial(t, listener, client(t, target))
		if got, err := call(idempotency.WithKey(t.Context(), "k"), cc, "pay"); got != "pay 1" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// Acceptance case C46.
func TestC46_OnlyVerdictsOnTheRequestAreKept(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func() error
		kept bool
	}{
		{"a refusal of the request", func() error { return status.Error(codes.FailedPrecondition, "no funds") }, true},
		{"a request that is wrong", func() error { return status.Error(codes.InvalidArgument, "no amount") }, true},
		{"a failure", func() error { return down }, false},
		{"an error without a status", func() error { return fmt.Errorf("oops") }, false},
		{"a caller who may not", func() error { return status.Error(codes.Unauthenticated, "who?") }, false},
		{"a panic", func() error { panic("bug") }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				e := &echo{}
				e.say = func(ctx context.Context, _ *text) (*text, error) {
					e.came(ctx)
					return nil, c.end()
				}
				cc := behind(t, e, guarded(t, idempotency.GuardConfig{}))
				_, first := call(keyed(t.Context(), "k"), cc, "pay")
				_, again := call(keyed(t.Context(), "k"), cc, "pay")
				if first == nil || again == nil || first.Error() != again.Error() {
					t.Errorf("first %v, then %v", first, again)
				}
				if kept := e.calls.Load() == 1; kept != c.kept {
					t.Errorf("%d calls", e.calls.Load())
				}
			})
		})
	}
}

// Acceptance case C46.
func TestC46_TenantsAndMethodsDoNotShareKeys(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := counting(0)
		cc := behind(t, e, guarded(t, idempotency.GuardConfig{}, grpcmw.ServerTenant(func(ctx context.Context) string {
			md, _ := metadata.FromIncomingContext(ctx)
			return md["tenant"][0]
		})))
		for n, tenant := range []string{"a", "b"} {
			ctx := metadata.AppendToOutgoingContext(keyed(t.Context(), "k"), "tenant", tenant)
			if got, err := call(ctx, cc, "pay"); got != fmt.Sprint("pay ", n+1) || err != nil {
				t.Errorf("tenant %s got %q, %v", tenant, got, err)
			}
		}
	})
}

// Acceptance case C46.
func TestC46_KeysThatCannotBeUsedAreTheCallersMistake(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := counting(0)
		cc := behind(t, e, guarded(t, idempotency.GuardConfig{Required: true}))
		for name, ctx := range map[string]context.Context{
			"none": t.Context(), "two": keyed(keyed(t.Context(), "a"), "b"), "an open quote": keyed(t.Context(), `"a`),
		} {
			if _, err := call(ctx, cc, "pay"); status.Code(err) != codes.InvalidArgument {
				t.Errorf("%s: %v", name, err)
			}
		}
		if e.calls.Load() != 0 {
			t.Errorf("%d calls", e.calls.Load())
		}
	})
}

// Acceptance case C57.
func TestC57_ACopyThatComesWhileTheFirstWorksGetsItsAnswer(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := counting(3 * time.Second)
		s := guarded(t, idempotency.GuardConfig{})
		target := retries()
		target.Idempotency = &idempotency.Config{Generate: true}
		target.Timeout = &timeout.Config{After: 2 * time.Second}
		cc := dial(t, e.serve(t, s.ServerOptions()...), client(t, target))
		ctx, report := backstay.WithReport(t.Context())
		var header metadata.MD
		got, err := call(ctx, cc, "pay", grpc.Header(&header))
		if got != "pay 1" || err != nil || e.calls.Load() != 1 {
			t.Errorf("got %q, %v after %d calls of the handler", got, err, e.calls.Load())
		}
		if sum := report.Summary(); sum.Attempts != 2 || sum.Key == "" || !slices.Equal(header["idempotent-replayed"], []string{"true"}) {
			t.Errorf("the report says %v, the header %v", sum, header)
		}
	})
}

func TestTheIncomingKeyIsTheHandlers(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := &echo{}
		e.say = func(ctx context.Context, _ *text) (*text, error) {
			return wrapperspb.String(idempotency.IncomingKey(ctx)), nil
		}
		cc := behind(t, e, guarded(t, idempotency.GuardConfig{}))
		if got, err := call(keyed(t.Context(), "k"), cc, "pay"); got != "k" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestAKeyedHandlerHasFewSecondsMoreThanItsCaller(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var left time.Duration
		e := &echo{}
		e.say = func(ctx context.Context, _ *text) (*text, error) {
			end, _ := ctx.Deadline()
			left = time.Until(end)
			return wrapperspb.String("done"), nil
		}
		s := guarded(t, idempotency.GuardConfig{})
		ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
		defer cancel()
		if _, err := call(keyed(ctx, "k"), behind(t, e, s), "pay"); err != nil {
			t.Fatal(err)
		}
		if most := 400*time.Millisecond + idempotency.DefaultGrace; left > most || left < most-100*time.Millisecond {
			t.Errorf("the handler had %v", left)
		}
	})
}
