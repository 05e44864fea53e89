package grpcmw_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/grpcmw"
	"github.com/backstay-go/backstay/retry"
)

// failing returns a backend whose first n calls fail with err.
func failing(n int, err error) *echo {
	e := &echo{}
	e.say = func(ctx context.Context, req *text) (*text, error) {
		if e.came(ctx) <= n {
			return nil, err
		}
		return wrapperspb.String("re: " + req.GetValue()), nil
	}
	return e
}

var down = status.Error(codes.Unavailable, "down")

func TestARetriedCallFillsTheReplyAndTellsTheServerWhichAttemptItIs(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := failing(2, down)
		target := retries()
		target.Propagate = middleware.Propagation{Hosts: []string{"echo"}}
		cc := connect(t, e, target, reads())
		ctx, report := backstay.WithReport(metadata.AppendToOutgoingContext(t.Context(), "mine", "1"))
		got, err := call(ctx, cc, "hello")
		if got != "re: hello" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if s := report.Summary(); s.Attempts != 3 || s.Outcome.Class != backstay.Success {
			t.Errorf("the report says %v", s)
		}
		for n, want := range map[int][2][]string{1: {nil, nil}, 2: {{"1"}, {"2"}}, 3: {{"2"}, {"3"}}} {
			previous, attempt := e.metadata(n, "grpc-previous-rpc-attempts"), e.metadata(n, "x-backstay-attempt")
			if !slices.Equal(previous, want[0]) || !slices.Equal(attempt, want[1]) || e.metadata(n, "mine")[0] != "1" {
				t.Errorf("call %d told %q, %q", n, previous, attempt)
			}
		}
		if md, _ := metadata.FromOutgoingContext(ctx); len(md) != 1 {
			t.Errorf("the caller's metadata became %v", md)
		}
	})
}

func TestOnlyWhatMayBeRepeatedIsSentTwice(t *testing.T) {
	for _, c := range []struct {
		name    string
		ctx     func(context.Context) context.Context
		options []grpcmw.Option
		keys    *idempotency.Config
		calls   int64
	}{
		{"a method of which nothing is known", nil, nil, nil, 1},
		{"a method that is named idempotent", nil, []grpcmw.Option{grpcmw.WithIdempotent(say)}, nil, 3},
		{"a read", nil, []grpcmw.Option{grpcmw.WithReads(say)}, nil, 3},
		{"another method is a read", nil, []grpcmw.Option{grpcmw.WithReads(list)}, nil, 1},
		{"all of its service is idempotent", nil, []grpcmw.Option{grpcmw.WithIdempotent("/backstay.test.Echo/")}, nil, 3},
		{"a marked call", retry.MarkRepeatable, nil, nil, 3},
		{"a keyed call", func(ctx context.Context) context.Context { return idempotency.WithKey(ctx, "k") }, nil, nil, 3},
		{"a key in the caller's metadata", func(ctx context.Context) context.Context {
			return metadata.AppendToOutgoingContext(ctx, "idempotency-key", `"k"`)
		}, nil, nil, 3},
		{"a target that honours keys", nil, nil, &idempotency.Config{Generate: true}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				e := failing(9, down)
				target := retries()
				target.Idempotency = c.keys
				cc := connect(t, e, target, c.options...)
				ctx := t.Context()
				if c.ctx != nil {
					ctx = c.ctx(ctx)
				}
				_, err := call(ctx, cc, "x")
				code(t, err, codes.Unavailable)
				if got := e.calls.Load(); got != c.calls {
					t.Errorf("%d calls, want %d", got, c.calls)
				}
				first := e.metadata(1, "idempotency-key")
				for n := 2; n <= int(c.calls); n++ {
					if !slices.Equal(e.metadata(n, "idempotency-key"), first) || len(first) > 1 {
						t.Errorf("call %d has the key %q, the first %q", n, e.metadata(n, "idempotency-key"), first)
					}
				}
			})
		})
	}
}

func TestTheBackendsOwnStatusIsReturned(t *testing.T) {
	detailed, _ := status.New(codes.FailedPrecondition, "no").WithDetails(&errdetails.ErrorInfo{Reason: "WHY"})
	virtual(t, func(t *testing.T) {
		cc := connect(t, failing(9, detailed.Err()), retries(), reads())
		_, err := call(t.Context(), cc, "x")
		s, ok := status.FromError(err)
		if !ok || s.Message() != "no" || len(s.Details()) != 1 || !errors.Is(err, detailed.Err()) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAnExhaustedCallHasTheLastStatusAndMatchesExhausted(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := failing(9, down)
		_, err := call(t.Context(), connect(t, e, retries(), reads()), "x")
		code(t, err, codes.Unavailable)
		if !errors.Is(err, retry.ErrExhausted) || !errors.Is(err, down) {
			t.Errorf("got %v", err)
		}
	})
}

// A connection that cannot be made sent nothing, so any method is repeated.
func TestWhatNeverReachedAConnectionIsRepeatedWhateverItsMethod(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := failing(0, nil)
		listener := e.serve(t)
		_ = listener.Close()
		cc := dial(t, listener, client(t, retries()))
		ctx, report := backstay.WithReport(t.Context())
		_, err := call(ctx, cc, "x")
		code(t, err, codes.Unavailable)
		if s := report.Summary(); s.Attempts != 3 || s.Reason != backstay.ReasonExhausted {
			t.Errorf("the report says %v", s)
		}
		ctx, report = backstay.WithReport(t.Context())
		_, err = cc.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, chat)
		code(t, err, codes.Unavailable)
		if s := report.Summary(); s.Attempts != 3 {
			t.Errorf("the report of the stream says %v", s)
		}
	})
}

// Acceptance case C26.
func TestC26_PushbackAndRetryInfo(t *testing.T) {
	asks := func(c codes.Code, d time.Duration) error {
		s, _ := status.New(c, "later").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(d)})
		return s.Err()
	}
	exhausted := status.Error(codes.ResourceExhausted, "enough")
	for _, c := range []struct {
		name     string
		err      error
		pushback []string
		calls    int64
		least    time.Duration
		most     time.Duration
	}{
		{"none", down, nil, 2, 0, 100 * time.Millisecond},
		{"0 is at once", down, []string{"0"}, 2, 0, 0},
		{"an exact wait", down, []string{"1500"}, 2, 1500 * time.Millisecond, 1500 * time.Millisecond},
		{"-1 forbids", down, []string{"-1"}, 1, 0, 0},
		{"junk forbids", down, []string{"abc"}, 1, 0, 0},
		{"twice forbids", down, []string{"10", "10"}, 1, 0, 0},
		{"2^31 is longer than any wait", down, []string{"2147483648"}, 1, 0, 0},
		{"RetryInfo is kept, with jitter on top", asks(codes.Unavailable, 2*time.Second), nil, 2, 2 * time.Second, 2100 * time.Millisecond},
		{"RetryInfo beside an exact wait", asks(codes.Unavailable, 2*time.Second), []string{"7"}, 2, 7 * time.Millisecond, 7 * time.Millisecond},
		{"a negative RetryInfo is none", asks(codes.Unavailable, -time.Second), nil, 2, 0, 100 * time.Millisecond},
		{"exhausted without a wait", exhausted, nil, 1, 0, 0},
		{"exhausted with RetryInfo", asks(codes.ResourceExhausted, time.Second), nil, 2, time.Second, 1100 * time.Millisecond},
		{"exhausted with pushback", exhausted, []string{"300"}, 2, 300 * time.Millisecond, 300 * time.Millisecond},
		{"pushback does not make a fault worth a try", status.Error(codes.Internal, "bug"), []string{"0"}, 1, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				e := &echo{}
				e.say = func(ctx context.Context, req *text) (*text, error) {
					if e.came(ctx) > 1 {
						return req, nil
					}
					if c.pushback != nil {
						_ = grpc.SetTrailer(ctx, metadata.MD{"grpc-retry-pushback-ms": c.pushback})
					}
					return nil, c.err
				}
				target := only("test")
				target.Retry = &retry.Config{}
				cc := connect(t, e, target, reads())
				began := time.Now()
				_, err := call(t.Context(), cc, "x")
				took := time.Since(began)
				if e.calls.Load() != c.calls || took < c.least || took > c.most {
					t.Errorf("%d calls after %v, want %d within [%v, %v]: %v", e.calls.Load(), took, c.calls, c.least, c.most, err)
				}
				if (err == nil) != (c.calls == 2) {
					t.Errorf("ended in %v", err)
				}
			})
		})
	}
}

// Acceptance case C54.
func TestC54_AWaitThatDoesNotFitEndsTheCallAtOnce(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := &echo{}
		e.say = func(ctx context.Context, _ *text) (*text, error) {
			e.came(ctx)
			_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", "10000"))
			return nil, down
		}
		target := only("test")
		target.Retry = &retry.Config{}
		cc := connect(t, e, target, reads())
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		ctx, report := backstay.WithReport(ctx)
		began := time.Now()
		_, err := call(ctx, cc, "x")
		code(t, err, codes.Unavailable)
		if took := time.Since(began); took != 0 || !errors.Is(err, down) {
			t.Errorf("after %v: %v", took, err)
		}
		if s := report.Summary(); s.Reason != backstay.ReasonNoTime {
			t.Errorf("the report says %v", s)
		}
	})
}

func TestACallerThatLeavesBetweenAttemptsIsTold(t *testing.T) {
	virtual(t, func(t *testing.T) {
		target := only("test")
		target.Retry = &retry.Config{Base: time.Hour, Cap: time.Hour}
		cc := connect(t, failing(9, down), target, reads())
		ctx, cancel := context.WithCancelCause(t.Context())
		left := errors.New("had to go")
		time.AfterFunc(time.Millisecond, func() { cancel(left) })
		_, err := call(ctx, cc, "x")
		code(t, err, codes.Canceled)
		if !errors.Is(err, context.Canceled) || !errors.Is(err, left) || !errors.Is(err, down) {
			t.Errorf("got %v", err)
		}
	})
}

func TestCodesAreRetriedThatAnOptionNames(t *testing.T) {
	for _, c := range []codes.Code{codes.Aborted, codes.Internal, codes.ResourceExhausted} {
		t.Run(c.String(), func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				e := failing(1, status.Error(c, "again"))
				cc := connect(t, e, retries(), reads(), grpcmw.WithRetryable(c))
				if _, err := call(t.Context(), cc, "x"); err != nil || e.calls.Load() != 2 {
					t.Errorf("%d calls, %v", e.calls.Load(), err)
				}
			})
		})
	}
}

func TestAClassifierOverrulesTheJudgement(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := &echo{}
		e.say = func(ctx context.Context, req *text) (*text, error) {
			if e.came(ctx) > 1 {
				return req, nil
			}
			_ = grpc.SetTrailer(ctx, metadata.Pairs("try", "again"))
			return nil, status.Error(codes.DataLoss, "oops")
		}
		cc := connect(t, e, retries(), reads(), grpcmw.WithClassifier(func(r *grpcmw.Reply, err error, o backstay.Outcome) backstay.Outcome {
			if err != nil && len(r.Trailer["try"]) > 0 {
				o.Class = backstay.Transient
			}
			return o
		}))
		if got, err := call(t.Context(), cc, "x"); got != "x" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// An interceptor that answers by itself proves nothing about what was sent.
func TestAnInterceptorsOwnUnavailableIsNotTakenForUnsent(t *testing.T) {
	c := client(t, retries())
	calls := 0
	err := c.Unary(t.Context(), say, nil, new(text), nil, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
		calls++
		return down
	})
	code(t, err, codes.Unavailable)
	if calls != 1 {
		t.Errorf("%d calls", calls)
	}
}
