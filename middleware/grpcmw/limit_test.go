package grpcmw_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/timeout"
)

var errInternal = status.Error(codes.Internal, "bug")

// The deadline that gRPC carries to the server is the attempt's: the nearest
// of its own limit, the total, and what the caller has left after the reserve.
func TestTheServerIsToldOfTheNearestLimit(t *testing.T) {
	for _, c := range []struct {
		name     string
		attempt  time.Duration
		deadline *deadline.Config
		callers  time.Duration
		want     time.Duration
	}{
		{"the attempt's", 2 * time.Second, &deadline.Config{}, 0, 2 * time.Second},
		{"the total", timeout.Off, &deadline.Config{Total: 3 * time.Second}, 0, 3 * time.Second},
		{"the caller's", 5 * time.Second, &deadline.Config{}, time.Second, time.Second},
		{"the caller's, after the reserve", 5 * time.Second, &deadline.Config{Reserve: 200 * time.Millisecond}, time.Second, 800 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				var told []time.Duration
				e := &echo{}
				e.say = func(ctx context.Context, req *text) (*text, error) {
					left, _ := deadline.Remaining(ctx)
					told = append(told, left)
					if e.came(ctx) == 1 {
						return nil, down
					}
					return req, nil
				}
				target := limited(c.attempt)
				target.Deadline = c.deadline
				ctx, cancel := t.Context(), func() {}
				if c.callers > 0 {
					ctx, cancel = context.WithTimeout(ctx, c.callers)
				}
				defer cancel()
				_, err := call(ctx, connect(t, e, target, reads()), "x")
				if !slices.Equal(told, []time.Duration{c.want, c.want}) || err != nil { // in virtual time, at once
					t.Errorf("told %v, want %v: %v", told, c.want, err)
				}
			})
		})
	}
}

// Where two limits are one, the outer one counts: the inner would need no
// context of its own.
func TestTheNearestLimitIsToBlame(t *testing.T) {
	const near, far = time.Second, 2 * time.Second
	for _, c := range []struct {
		name                    string
		attempt, total, callers time.Duration
		want                    error // nil: the caller's own
	}{
		{"the attempt's", near, far, far, timeout.ErrTimeout},
		{"the attempt's, without others", near, deadline.NoTotal, 0, timeout.ErrTimeout},
		{"the total", timeout.Off, near, far, deadline.ErrExceeded},
		{"the total, without others", timeout.Off, near, 0, deadline.ErrExceeded},
		{"the caller's", far, far, near, nil},
		{"attempt and total", near, near, far, deadline.ErrExceeded},
		{"attempt and caller", near, far, near, nil},
		{"total and caller", timeout.Off, near, near, nil},
		{"all", near, near, near, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				target := limited(c.attempt)
				target.Deadline, target.Retry = &deadline.Config{Total: c.total}, nil
				cc := connect(t, scripted(after(time.Hour, "", nil)), target)
				ctx, cancel := t.Context(), func() {}
				if c.callers > 0 {
					ctx, cancel = context.WithTimeout(ctx, c.callers)
				}
				defer cancel()
				began := time.Now()
				_, err := call(ctx, cc, "x")
				code(t, err, codes.DeadlineExceeded)
				for _, limit := range []error{timeout.ErrTimeout, deadline.ErrExceeded} {
					if errors.Is(err, limit) != (limit == c.want) {
						t.Errorf("is it %q? %v: %v", limit, errors.Is(err, limit), err)
					}
				}
				if took := time.Since(began); took != near {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

func TestACallThatComesTooLateIsNotSent(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := failing(0, nil)
		target := retries()
		target.Deadline = &deadline.Config{Need: time.Second}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err := call(ctx, connect(t, e, target), "x")
		code(t, err, codes.DeadlineExceeded)
		if !errors.Is(err, deadline.ErrTooLate) || !errors.Is(err, backstay.ErrRejected) || e.calls.Load() != 0 {
			t.Errorf("%d calls: %v", e.calls.Load(), err)
		}
	})
}

func TestASlowAttemptIsCutAndRepeated(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := scripted(after(time.Hour, "", nil), after(time.Second, "second", nil))
		began := time.Now()
		got, err := call(t.Context(), connect(t, e, limited(2*time.Second), reads()), "x")
		if got != "second" || err != nil || time.Since(began) != 3*time.Second {
			t.Errorf("got %q, %v after %v", got, err, time.Since(began))
		}
	})
}

// A call that fails fast is told at once that there is no connection; one that
// waits is cut at the attempt's limit. Neither was sent, so both are repeated
// whatever their method.
func TestACallWithoutAConnectionIsRepeatedWhetherItWaitsOrNot(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []grpc.CallOption
		want    codes.Code
		cut     bool
		took    time.Duration
	}{
		{"failing fast", nil, codes.Unavailable, false, 0},
		{"waiting", []grpc.CallOption{grpc.WaitForReady(true)}, codes.DeadlineExceeded, true, 6 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				cc := unreachable(t, time.Hour)
				ctx, report := backstay.WithReport(t.Context())
				began := time.Now()
				_, err := call(ctx, cc, "x", c.options...)
				code(t, err, c.want)
				if s := report.Summary(); s.Attempts != 3 || errors.Is(err, timeout.ErrTimeout) != c.cut || time.Since(began) != c.took {
					t.Errorf("after %v: %v; the report says %v", time.Since(began), err, s)
				}
			})
		})
	}
}

func TestACallThatWaitsIsSentOnceThereIsAConnection(t *testing.T) {
	virtual(t, func(t *testing.T) {
		cc := unreachable(t, 3*time.Second)
		ctx, report := backstay.WithReport(t.Context())
		got, err := call(ctx, cc, "x", grpc.WaitForReady(true))
		if s := report.Summary(); got != "re: x" || err != nil || s.Attempts < 2 {
			t.Errorf("got %q, %v; the report says %v", got, err, s)
		}
	})
}

// unreachable dials a backend, under attempts of at most 2 s, to which there is
// no way until the time has passed.
func unreachable(t *testing.T, until time.Duration) *grpc.ClientConn {
	t.Helper()
	listener, opens := failing(0, nil).serve(t), time.Now().Add(until)
	c := client(t, limited(2*time.Second))
	cc, err := grpc.NewClient("passthrough:///echo", append(c.DialOptions(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			if time.Now().Before(opens) {
				return nil, errors.New("no way")
			}
			return listener.DialContext(ctx)
		}))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cc.Close() })
	return cc
}

// The status is that of the backend word for word, whatever the policies have
// to say about it.
func TestTheMessageOfAStatusIsTheBackends(t *testing.T) {
	virtual(t, func(t *testing.T) {
		cc := connect(t, failing(9, down), retries(), reads(), staleByMethod(false))
		err := cc.Invoke(t.Context(), say, wrapperspb.String("x"), new(text))
		if s := status.Convert(err); s.Message() != "down" || s.Code() != codes.Unavailable {
			t.Errorf("the status is %v", s)
		}
	})
}
