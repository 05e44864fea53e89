package grpcmw_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/grpcmw"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

func TestARefusalIsAStatusAndItself(t *testing.T) {
	ended, cancel := context.WithTimeout(context.Background(), -1)
	defer cancel()
	soon, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	for _, c := range []struct {
		name   string
		target func(*middleware.Target)
		before func(*grpcmw.Client)
		ctx    context.Context
		code   codes.Code
		is     []error
	}{
		{"an open breaker", func(t *middleware.Target) { t.Breaker = &breaker.Config{} },
			func(c *grpcmw.Client) { c.Pipelines().Get("echo", backstay.Now()).Breaker().ForceOpen() }, nil,
			codes.Unavailable, []error{breaker.ErrOpen, backstay.ErrRejected}},
		{"a full bulkhead", func(t *middleware.Target) { t.Bulkhead = &bulkhead.Config{Limit: 1} },
			func(c *grpcmw.Client) {
				_, _ = c.Pipelines().Get("echo", backstay.Now()).Bulkhead().TryAcquire(context.Background(), 1)
			}, nil, codes.Unavailable, []error{bulkhead.ErrFull, backstay.ErrRejected}},
		{"too late", func(t *middleware.Target) {
			t.Deadline = &deadline.Config{Need: time.Second}
		}, nil, soon, codes.DeadlineExceeded, []error{deadline.ErrTooLate, backstay.ErrRejected, context.DeadlineExceeded}},
		{"a deadline that has passed", func(t *middleware.Target) { t.Deadline = &deadline.Config{} }, nil, ended,
			codes.DeadlineExceeded, []error{context.DeadlineExceeded}},
		{"a closed client", func(*middleware.Target) {}, func(c *grpcmw.Client) { _ = c.Close(context.Background()) }, nil,
			codes.Unavailable, []error{middleware.ErrClosed, backstay.ErrRejected}},
		{"a key that cannot be used", func(*middleware.Target) {}, nil, idempotency.WithKey(context.Background(), "schön"),
			codes.InvalidArgument, []error{idempotency.ErrKeyInvalid}},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := retries()
			c.target(&target)
			cl := client(t, target, reads())
			if c.before != nil {
				c.before(cl)
			}
			ctx := c.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			err := cl.Unary(ctx, say, nil, new(text), fakeConn(t), nil)
			check := func(err error) {
				code(t, err, c.code)
				for _, is := range c.is {
					if !errors.Is(err, is) {
						t.Errorf("%v is not %v", err, is)
					}
				}
			}
			check(err)
			_, err = cl.Stream(ctx, &grpc.StreamDesc{ServerStreams: true}, fakeConn(t), list, nil)
			check(err)
			if err := cl.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// fakeConn returns a connection with a target that is never used.
func fakeConn(t *testing.T) *grpc.ClientConn {
	t.Helper()
	return dial(t, bufconn.Listen(1), nil)
}

// Acceptance case C49.
func TestC49_ARejectionUnderARetryIsCountedOnce(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var seen log
		target := retries()
		target.Breaker = &breaker.Config{}
		c := client(t, target, reads(), grpcmw.WithObserver(&seen))
		e := failing(0, nil)
		cc := dial(t, e.serve(t), c)
		c.Pipelines().Get("echo", backstay.Now()).Breaker().ForceOpen()
		for range 5 {
			_, err := call(t.Context(), cc, "x")
			code(t, err, codes.Unavailable)
		}
		rejections := seen.count(func(e backstay.Event) bool { return e.Kind == backstay.CallRejected })
		if rejections != 5 || e.calls.Load() != 0 {
			t.Errorf("%d rejections, %d calls", rejections, e.calls.Load())
		}
	})
}

func TestTheBreakerCountsFailuresAndNotMistakes(t *testing.T) {
	for c, opens := range map[codes.Code]bool{
		codes.InvalidArgument: false, codes.NotFound: false, codes.Unimplemented: false, codes.Canceled: false,
		codes.Unavailable: true, codes.ResourceExhausted: true, codes.DeadlineExceeded: true, codes.Internal: true,
		codes.Unknown: true, codes.DataLoss: true,
	} {
		t.Run(c.String(), func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				target := only("test")
				target.Breaker = &breaker.Config{}
				cl := client(t, target)
				cc := dial(t, failing(1000, status.Error(c, "no")).serve(t), cl)
				for range 20 {
					_, _ = call(t.Context(), cc, "x")
				}
				state := cl.Pipelines().Get("echo", backstay.Now()).Breaker().State()
				if (state == breaker.Open) != opens {
					t.Errorf("the breaker is %v", state)
				}
			})
		})
	}
}

// Acceptance case C28.
func TestC28_ProbePlacesComeBackWhenTheCallPanics(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func()
	}{
		{"a panic", func() { panic("bug") }},
		{"runtime.Goexit", runtime.Goexit},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				target := only("test")
				target.Breaker = &breaker.Config{}
				target.Bulkhead = &bulkhead.Config{Limit: 1}
				var end func()
				ending := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, options ...grpc.CallOption) error {
					if end != nil {
						end()
					}
					return invoker(ctx, method, req, reply, cc, options...)
				}
				cl := client(t, target)
				cc := dial(t, failing(10, down).serve(t), cl, grpc.WithChainUnaryInterceptor(ending))
				for range 10 {
					_, _ = call(t.Context(), cc, "x")
				}
				b := cl.Pipelines().Get("echo", backstay.Now()).Breaker()
				time.Sleep(10 * time.Second)
				end = c.end
				exited := make(chan any, 1)
				go func() {
					defer func() { exited <- recover() }()
					_, _ = call(t.Context(), cc, "x")
					t.Error("the call returned")
				}()
				<-exited
				if b.State() != breaker.Open {
					t.Errorf("after the probe's end the breaker is %v", b.State())
				}
				end = nil
				time.Sleep(time.Minute)
				if _, err := call(t.Context(), cc, "x"); err != nil || b.State() != breaker.Closed {
					t.Errorf("the breaker is %v, and the call ended in %v", b.State(), err)
				}
			})
		})
	}
}

func TestAnAttemptTimeoutIsRetriedAndToldFromTheCallersDeadline(t *testing.T) {
	virtual(t, func(t *testing.T) {
		target := retries()
		target.Timeout = &timeout.Config{After: 20 * time.Millisecond}
		target.Retry = &retry.Config{Base: retry.NoWait, Budget: retry.NoBudget, MaxAttempts: 2}
		e := scripted(after(time.Hour, "", nil), after(0, "quick", nil), after(2*time.Hour, "", nil), after(3*time.Hour, "", nil))
		cc := connect(t, e, target, reads())
		if got, err := call(t.Context(), cc, "x"); got != "quick" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		_, err := call(t.Context(), cc, "x")
		code(t, err, codes.DeadlineExceeded)
		if !errors.Is(err, timeout.ErrTimeout) || !errors.Is(err, retry.ErrExhausted) {
			t.Errorf("got %v", err)
		}
	})
}

func TestTheTotalDeadlineIsAStatus(t *testing.T) {
	for _, abandons := range []bool{false, true} {
		virtual(t, func(t *testing.T) {
			target := only("test")
			target.Deadline = &deadline.Config{Total: time.Second}
			target.Timeout = &timeout.Config{After: timeout.Off, Abandon: abandons}
			cc := connect(t, scripted(after(time.Hour, "", nil)), target)
			_, err := call(t.Context(), cc, "x")
			code(t, err, codes.DeadlineExceeded)
			if !errors.Is(err, deadline.ErrExceeded) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTheReserveIsTakenOffTheDeadlineThatTheServerSees(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := &echo{}
		e.say = func(ctx context.Context, req *text) (*text, error) {
			left, _ := deadline.Remaining(ctx)
			if left > 700*time.Millisecond || left < 690*time.Millisecond {
				t.Errorf("the server sees %v", left)
			}
			return req, nil
		}
		target := only("test")
		target.Deadline = &deadline.Config{Reserve: 300 * time.Millisecond}
		cc := connect(t, e, target)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := call(ctx, cc, "x"); err != nil {
			t.Error(err)
		}
	})
}

func TestHealthChecksPassUntouched(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := server(t, middleware.Server{Bulkhead: &bulkhead.Config{Limit: 1}})
		listener := bufconn.Listen(64 << 10)
		g := grpc.NewServer(s.ServerOptions()...)
		healthpb.RegisterHealthServer(g, health.NewServer())
		go func() { _ = g.Serve(listener) }()
		t.Cleanup(g.Stop)
		target := only("test")
		target.Breaker = &breaker.Config{}
		c := client(t, target)
		cc := dial(t, listener, c)
		c.Pipelines().Get("echo", backstay.Now()).Breaker().ForceOpen()
		_, _ = s.Bulkhead().TryAcquire(t.Context(), 1)
		checks := healthpb.NewHealthClient(cc)
		if _, err := checks.Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		watch, err := checks.Watch(ctx, &healthpb.HealthCheckRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := watch.Recv(); err != nil {
			t.Error(err)
		}
		cancel()
		synctest.Wait()
	})
}

func TestEveryFaultOfTheOptionsIsTold(t *testing.T) {
	_, err := grpcmw.NewClient(middleware.Target{Config: middleware.Config{Retry: &retry.Config{MaxAttempts: -1}}},
		grpcmw.WithReads("Get"), grpcmw.WithIdempotent("/a.B/C", "/x/*"), grpcmw.WithPassThrough("/a.B/"))
	var found []string
	for _, e := range unjoin(err) {
		if f, ok := errors.AsType[*backstay.FieldError](e); ok {
			found = append(found, f.Path)
		}
	}
	if len(found) != 3 {
		t.Errorf("got %q: %v", found, err)
	}
	_, err = grpcmw.NewServer(middleware.Server{
		Idempotency: &idempotency.GuardConfig{}, KeyHeader: "key-bin",
		Deadline: &deadline.IncomingConfig{Minimum: -1}, Bulkhead: &bulkhead.Config{Limit: -5},
	}, grpcmw.ServerPassThrough(""))
	if got := unjoin(err); len(got) != 5 {
		t.Errorf("got %d faults: %v", len(got), err)
	}
}

// unjoin takes joined errors apart.
func unjoin(err error) (all []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	for _, e := range joined.Unwrap() {
		all = append(all, unjoin(e)...)
	}
	return all
}
