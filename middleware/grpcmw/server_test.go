package grpcmw_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/grpcmw"
	"github.com/backstay-go/backstay/retry"
)

// behind serves e behind s and dials it without any policy.
func behind(t *testing.T, e *echo, s *grpcmw.Server) *grpc.ClientConn {
	t.Helper()
	return dial(t, e.serve(t, s.ServerOptions()...), nil)
}

// forbidden fails the test unless the trailer forbids a retry.
func forbidden(t *testing.T, trailer metadata.MD) {
	t.Helper()
	if !slices.Equal(trailer["grpc-retry-pushback-ms"], []string{"-1"}) || !slices.Equal(trailer["x-backstay-retry"], []string{"never"}) {
		t.Errorf("the trailer is %v", trailer)
	}
}

func TestAnRPCThatComesTooLateIsRefusedBeforeItsHandler(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var seen log
		e := failing(0, nil)
		e.list = func(*text, grpc.ServerStream) error { e.calls.Add(1); return nil }
		s := server(t, middleware.Server{Name: "echo", Deadline: &deadline.IncomingConfig{Minimum: time.Second}}, grpcmw.ServerObserver(&seen))
		cc := behind(t, e, s)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var trailer metadata.MD
		_, err := call(ctx, cc, "x", grpc.Trailer(&trailer))
		code(t, err, codes.DeadlineExceeded)
		forbidden(t, trailer)
		cs, err := open(ctx, cc, "x")
		if err != nil {
			t.Fatal(err)
		}
		_, err = receive(cs)
		code(t, err, codes.DeadlineExceeded)
		forbidden(t, cs.Trailer())
		late := seen.count(func(e backstay.Event) bool { return e.Reason == backstay.ReasonTooLate && e.Policy == "echo" })
		if e.calls.Load() != 0 || late != 2 {
			t.Errorf("%d calls, %d refusals told", e.calls.Load(), late)
		}
	})
}

func TestTheServersCapBoundsUnaryCallsAndNoStreams(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := &echo{}
		e.say = func(ctx context.Context, req *text) (*text, error) {
			if left, ok := deadline.Remaining(ctx); !ok || left > time.Minute || left < 59*time.Second {
				t.Errorf("the handler has %v, %v", left, ok)
			}
			return req, nil
		}
		e.list = func(_ *text, ss grpc.ServerStream) error {
			if left, ok := deadline.Remaining(ss.Context()); ok {
				t.Errorf("the stream has %v", left)
			}
			return nil
		}
		cc := behind(t, e, server(t, middleware.Server{Deadline: &deadline.IncomingConfig{}}))
		if _, err := call(t.Context(), cc, "x"); err != nil {
			t.Error(err)
		}
		cs, err := open(t.Context(), cc, "x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := receive(cs); err != nil {
			t.Error(err)
		}
	})
}

func TestAFullServerShedsLowPrioritiesFirst(t *testing.T) {
	virtual(t, func(t *testing.T) {
		release := make(chan struct{})
		e := &echo{}
		e.say = func(_ context.Context, req *text) (*text, error) { <-release; return req, nil }
		e.list = func(*text, grpc.ServerStream) error { return nil }
		s := server(t, middleware.Server{Bulkhead: &bulkhead.Config{Limit: 2, Priorities: &bulkhead.PriorityConfig{DefaultShare: 0.5, SheddableShare: 0.5}}},
			grpcmw.ServerPriority(func(ctx context.Context, _ string) bulkhead.Priority {
				if md, _ := metadata.FromIncomingContext(ctx); len(md["critical"]) > 0 {
					return bulkhead.Critical
				}
				return bulkhead.Sheddable
			}))
		cc := behind(t, e, s)
		done := make(chan error, 2)
		go func() { _, err := call(t.Context(), cc, "x"); done <- err }()
		synctest.Wait()
		var trailer metadata.MD
		_, err := call(t.Context(), cc, "x", grpc.Trailer(&trailer))
		code(t, err, codes.Unavailable)
		forbidden(t, trailer)
		cs, err := open(t.Context(), cc, "x")
		if err != nil {
			t.Fatal(err)
		}
		_, err = receive(cs)
		code(t, err, codes.Unavailable)
		forbidden(t, cs.Trailer())
		go func() {
			_, err := call(metadata.AppendToOutgoingContext(t.Context(), "critical", "1"), cc, "x")
			done <- err
		}()
		synctest.Wait()
		close(release)
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestARefusalIsNotRetriedByAClient(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var seen log
		s := server(t, middleware.Server{Bulkhead: &bulkhead.Config{Limit: 1}}, grpcmw.ServerObserver(&seen))
		e := failing(0, nil)
		cc := dial(t, e.serve(t, s.ServerOptions()...), client(t, retries(), reads()))
		_, _ = s.Bulkhead().TryAcquire(t.Context(), 1)
		ctx, report := backstay.WithReport(t.Context())
		_, err := call(ctx, cc, "x")
		code(t, err, codes.Unavailable)
		if sum := report.Summary(); sum.Reason != backstay.ReasonDoNotRetry || sum.Attempts != 1 {
			t.Errorf("the report says %v", sum)
		}
		if n := seen.count(func(e backstay.Event) bool { return e.Kind == backstay.CallRejected }); n != 1 {
			t.Errorf("%d rejections", n)
		}
	})
}

func TestWhatAServerBelowForbidsIsPassedUpward(t *testing.T) {
	for _, c := range []struct {
		name      string
		err       error
		forbidden bool
	}{
		{"a breaker of ours that is open", &breaker.OpenError{Name: "db"}, true},
		{"an error without a status that wraps one", errors.Join(errors.New("cannot pay"), &breaker.OpenError{Name: "db"}), true},
		{"an ordinary failure", down, false},
		{"a handler's own opinion of its load", status.Error(codes.ResourceExhausted, "full"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				cc := behind(t, failing(9, c.err), server(t, middleware.Server{}))
				var trailer metadata.MD
				_, err := call(t.Context(), cc, "x", grpc.Trailer(&trailer))
				if status.Code(err) == codes.Unknown {
					t.Errorf("got %v", err)
				}
				if (len(trailer["x-backstay-retry"]) > 0) != c.forbidden {
					t.Errorf("the trailer is %v", trailer)
				}
			})
		})
	}
	t.Run("an answer that came through a client of ours", func(t *testing.T) {
		virtual(t, func(t *testing.T) {
			below := &echo{}
			below.say = func(ctx context.Context, _ *text) (*text, error) {
				_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", "-1"))
				return nil, down
			}
			inner := connect(t, below, retries(), reads())
			e := &echo{}
			e.say = func(ctx context.Context, req *text) (*text, error) {
				_, err := call(ctx, inner, req.GetValue())
				return nil, err
			}
			var trailer metadata.MD
			_, err := call(t.Context(), behind(t, e, server(t, middleware.Server{})), "x", grpc.Trailer(&trailer))
			code(t, err, codes.Unavailable)
			forbidden(t, trailer)
		})
	})
}

// The middle of three services does not retry where the first one does.
func TestRetriesBelowARetryAreSuppressed(t *testing.T) {
	for _, c := range []struct {
		name   string
		nested bool
		calls  int64
	}{
		{"by default the first attempt alone retries", false, 3 + 1 + 1},
		{"unless the server allows it", true, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				last := failing(99, down)
				inner := connect(t, last, retries(), reads())
				e := &echo{}
				e.say = func(ctx context.Context, req *text) (*text, error) {
					_, err := call(ctx, inner, req.GetValue())
					return nil, err
				}
				e.list = func(req *text, ss grpc.ServerStream) error {
					_, err := call(ss.Context(), inner, req.GetValue())
					return err
				}
				s := server(t, middleware.Server{RetryNested: c.nested})
				cc := dial(t, e.serve(t, s.ServerOptions()...), client(t, retries(), reads()))
				_, err := call(t.Context(), cc, "x")
				code(t, err, codes.Unavailable)
				if got := last.calls.Load(); got != c.calls {
					t.Errorf("%d calls of the last, want %d", got, c.calls)
				}
				cs, err := open(t.Context(), cc, "x")
				if err != nil {
					t.Fatal(err)
				}
				_, _ = receive(cs)
				if got := last.calls.Load(); got != 2*c.calls {
					t.Errorf("%d calls of the last with the stream's, want %d", got, 2*c.calls)
				}
			})
		})
	}
}

// Acceptance case C43.
func TestC43_APanicIsOneInternalAnswerAndFreesThePermit(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func()
	}{
		{"a panic", func() { panic("secret") }},
		{"a panic with an error", func() { panic(errors.New("secret")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				var seen log
				e := &echo{}
				e.say = func(context.Context, *text) (*text, error) { c.end(); return nil, nil }
				e.list = func(*text, grpc.ServerStream) error { c.end(); return nil }
				s := server(t, middleware.Server{Bulkhead: &bulkhead.Config{Limit: 1}}, grpcmw.ServerObserver(&seen))
				cc := behind(t, e, s)
				for range 3 {
					_, err := call(t.Context(), cc, "x")
					code(t, err, codes.Internal)
					if strings.Contains(err.Error(), "secret") {
						t.Errorf("the caller is told %v", err)
					}
					cs, err := open(t.Context(), cc, "x")
					if err != nil {
						t.Fatal(err)
					}
					_, err = receive(cs)
					code(t, err, codes.Internal)
				}
				told := seen.count(func(e backstay.Event) bool {
					told, ok := e.Err.(*middleware.PanicError)
					return ok && e.Kind == middleware.HandlerPanicked && strings.Contains(told.Error(), "secret") &&
						!strings.Contains(told.Error(), "\n") && strings.Contains(string(told.Stack), "server_test.go")
				})
				if told != 6 || s.Bulkhead().InFlight() != 0 {
					t.Errorf("%d panics told, %d in flight", told, s.Bulkhead().InFlight())
				}
			})
		})
	}
}

// Acceptance case C43.
func TestC43_AHandlerThatExitsItsGoroutineFreesThePermit(t *testing.T) {
	s := server(t, middleware.Server{Bulkhead: &bulkhead.Config{Limit: 1}, Deadline: &deadline.IncomingConfig{}})
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_, _ = s.Unary(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: say}, func(context.Context, any) (any, error) {
			runtime.Goexit()
			return nil, nil
		})
	}()
	<-exited
	if s.Bulkhead().InFlight() != 0 {
		t.Errorf("%d in flight", s.Bulkhead().InFlight())
	}
}

func TestAHandlersErrorIsNotChanged(t *testing.T) {
	virtual(t, func(t *testing.T) {
		for _, want := range []error{status.Error(codes.NotFound, "no such thing"), errors.New("plain"), context.Canceled} {
			cc := behind(t, failing(9, want), server(t, middleware.Server{}))
			_, err := call(t.Context(), cc, "x")
			s, ok := status.FromError(want)
			if !ok {
				s = status.FromContextError(want)
			}
			if status.Code(err) != s.Code() || status.Convert(err).Message() != s.Message() {
				t.Errorf("%v became %v", want, err)
			}
		}
	})
}

func TestARetryOfOurClientReachesTheHandlerWithItsMetadata(t *testing.T) {
	virtual(t, func(t *testing.T) {
		suppressed := make([]bool, 0, 2)
		e := &echo{}
		e.say = func(ctx context.Context, _ *text) (*text, error) {
			suppressed = append(suppressed, retry.Suppressed(ctx))
			if e.came(ctx) == 1 {
				return nil, down
			}
			return wrapperspb.String("ok"), nil
		}
		s := server(t, middleware.Server{})
		cc := dial(t, e.serve(t, s.ServerOptions()...), client(t, retries(), reads()))
		if _, err := call(t.Context(), cc, "x"); err != nil || !slices.Equal(suppressed, []bool{false, true}) {
			t.Errorf("suppressed: %v, %v", suppressed, err)
		}
	})
}
