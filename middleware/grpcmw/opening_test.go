package grpcmw_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/grpcmw"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// limited returns a target with retries, and attempts of at most d.
func limited(d time.Duration) middleware.Target {
	t := retries()
	t.Timeout = &timeout.Config{After: d}
	return t
}

// silent returns an interceptor whose first n streams find no connection, as
// long as their context lives.
func silent(n int, contexts *[]context.Context) grpc.DialOption {
	return grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
		*contexts = append(*contexts, ctx)
		if len(*contexts) > n {
			return streamer(ctx, desc, cc, method, options...)
		}
		err := wait(ctx, time.Hour)
		for _, o := range options {
			if end, ok := o.(grpc.OnFinishCallOption); ok {
				end.OnFinish(err) // as grpc-go says that it gave up before it had a connection
			}
		}
		return nil, err
	})
}

func TestTheAttemptTimeoutBoundsTheSearchForAStreamsConnection(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var contexts []context.Context
		e := chatter(nil)
		cc := dial(t, e.serve(t), client(t, limited(2*time.Second)), silent(1, &contexts)) // of a method that may not be repeated
		began := time.Now()
		cs, err := cc.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, chat)
		if err != nil || time.Since(began) != 2*time.Second {
			t.Fatalf("opened after %v: %v", time.Since(began), err)
		}
		if _, bounded := contexts[1].Deadline(); bounded {
			t.Error("the stream itself has a deadline")
		}
		time.Sleep(time.Minute) // which nobody counts any more
		if err := cs.SendMsg(wrapperspb.String("a")); err != nil {
			t.Error(err)
		}
		_ = cs.CloseSend()
		if got, err := receive(cs); !slices.Equal(got, []string{"re: a"}) || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestAStreamWithoutAConnectionEndsInTheTimeoutsError(t *testing.T) {
	for name, c := range map[string]struct {
		ctx  func(context.Context) context.Context
		took time.Duration
	}{
		"the configured limit": {func(ctx context.Context) context.Context { return ctx }, 6 * time.Second},
		"the caller's limit":   {func(ctx context.Context) context.Context { return timeout.With(ctx, time.Second) }, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				var contexts []context.Context
				cc := dial(t, chatter(nil).serve(t), client(t, limited(2*time.Second)), silent(9, &contexts))
				ctx, report := backstay.WithReport(c.ctx(t.Context()))
				began := time.Now()
				_, err := cc.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, chat)
				if !errors.Is(err, timeout.ErrTimeout) || !errors.Is(err, retry.ErrExhausted) || time.Since(began) != c.took {
					t.Errorf("after %v: %v", time.Since(began), err)
				}
				if s := report.Summary(); s.Attempts != 3 {
					t.Errorf("the report says %v", s)
				}
			})
		})
	}
}

// Where the caller leaves first, it is the caller that has left.
func TestACallerThatLeavesASearchForAConnectionIsTold(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var contexts []context.Context
		cc := dial(t, chatter(nil).serve(t), client(t, limited(2*time.Second)), silent(9, &contexts))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := cc.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, chat)
		code(t, err, codes.DeadlineExceeded)
		if errors.Is(err, timeout.ErrTimeout) || len(contexts) != 1 {
			t.Errorf("%d attempts: %v", len(contexts), err)
		}
	})
}

// hanging returns a backend whose first n streams are never answered.
func hanging(n int) *echo {
	e := &echo{}
	e.list = func(req *text, ss grpc.ServerStream) error {
		if e.came(ss.Context()) <= n {
			return wait(ss.Context(), time.Hour)
		}
		_ = ss.SendHeader(metadata.Pairs("h", "1"))
		time.Sleep(time.Hour) // which nobody counts any more
		return ss.SendMsg(req)
	}
	return e
}

func TestAServerThatDoesNotAnswerAStreamIsGivenUpWhereAnOptionSaysSo(t *testing.T) {
	virtual(t, func(t *testing.T) {
		cc := connect(t, hanging(2), retries(), reads(), grpcmw.WithFirstAnswer(time.Second))
		began := time.Now()
		cs, err := open(t.Context(), cc, "x")
		if err != nil {
			t.Fatal(err)
		}
		header, err := cs.Header()
		if err != nil || header["h"] == nil || time.Since(began) != 2*time.Second {
			t.Errorf("after %v: %v, %v", time.Since(began), header, err)
		}
		if got, err := receive(cs); !slices.Equal(got, []string{"x"}) || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestTheFirstAnswerOfAStreamThatMayNotBeRepeatedIsBoundedToo(t *testing.T) {
	virtual(t, func(t *testing.T) {
		cc := connect(t, hanging(9), retries(), grpcmw.WithFirstAnswer(time.Second))
		cs, err := open(t.Context(), cc, "x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := receive(cs); !errors.Is(err, timeout.ErrTimeout) {
			t.Errorf("got %v", err)
		}
	})
}

// A caller may take its time to send, and a conversation to begin.
func TestTheFirstAnswerIsBoundedOnlyAfterTheOneRequest(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := lister(nil)
		e.chat = chatter(nil).chat
		cc := connect(t, e, retries(), reads(), grpcmw.WithFirstAnswer(time.Second))
		cs, err := cc.NewStream(t.Context(), &grpc.StreamDesc{StreamName: "List", ServerStreams: true}, list)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		_ = cs.SendMsg(wrapperspb.String("x"))
		_ = cs.CloseSend()
		if got, err := receive(cs); len(got) != 3 || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		e.chat = func(ss grpc.ServerStream) error {
			time.Sleep(time.Minute)
			return ss.SendMsg(wrapperspb.String("late"))
		}
		cs, err = cc.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, chat)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := receive(cs); len(got) != 1 || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// A reserve shortens the caller's deadline; the total does not bound a stream.
func TestAReserveCutsAStreamAndTheTotalDoesNot(t *testing.T) {
	virtual(t, func(t *testing.T) {
		told := time.Duration(-1)
		e := &echo{}
		e.list = func(req *text, ss grpc.ServerStream) error {
			if left, bounded := deadline.Remaining(ss.Context()); bounded {
				told = left
			}
			return errors.Join(ss.SendMsg(req), wait(ss.Context(), time.Minute), ss.SendMsg(req))
		}
		target := retries()
		target.Deadline = &deadline.Config{Total: 10 * time.Second, Reserve: time.Second}
		cc := connect(t, e, target)
		for _, want := range []time.Duration{-1, 2*time.Minute - time.Second} {
			ctx, cancel := t.Context(), func() {}
			if want > 0 {
				ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
			}
			cs, err := open(ctx, cc, "x")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := receive(cs); len(got) != 2 || err != nil || told != want {
				t.Errorf("got %q, %v; the server was told of %v, want %v", got, err, told, want)
			}
			cancel()
		}
	})
}
