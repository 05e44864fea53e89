package grpcmw_test

import (
	"context"
	"errors"
	"io"
	"slices"
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
	"github.com/backstay-go/backstay/middleware/grpcmw"
	"github.com/backstay-go/backstay/timeout"
)

// lister returns a backend whose stream n fails with the n-th error before its
// first reply; once they are used up, it sends three and ends with end.
func lister(end error, before ...error) *echo {
	e := &echo{}
	e.list = func(req *text, ss grpc.ServerStream) error {
		if n := e.came(ss.Context()); n <= len(before) {
			ss.SetTrailer(metadata.Pairs("stream", "failed"))
			return before[n-1]
		}
		for _, s := range []string{"a", "b", "c"} {
			if err := ss.SendMsg(wrapperspb.String(req.GetValue() + s)); err != nil {
				return err
			}
		}
		return end
	}
	return e
}

func TestAStreamThatFailsBeforeItsFirstReplyIsOpenedAgainWithItsRequest(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := lister(nil, down, down)
		ctx, report := backstay.WithReport(t.Context())
		cs, err := open(ctx, connect(t, e, retries(), reads()), "x")
		if err != nil {
			t.Fatal(err)
		}
		header, err := cs.Header()
		if err != nil || len(header) == 0 {
			t.Errorf("the header is %v, %v", header, err)
		}
		got, err := receive(cs)
		if !slices.Equal(got, []string{"xa", "xb", "xc"}) || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if s := report.Summary(); s.Attempts != 3 || e.metadata(3, "grpc-previous-rpc-attempts")[0] != "2" {
			t.Errorf("the report says %v", s)
		}
		if cs.Context().Err() == nil {
			t.Error("the context of the stream outlives it")
		}
	})
}

// Acceptance case C25.
func TestC25_AStreamThatFailsAfterThreeRepliesIsNotReplayed(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := lister(down)
		cs, err := open(t.Context(), connect(t, e, retries(), reads()), "x")
		if err != nil {
			t.Fatal(err)
		}
		got, err := receive(cs)
		code(t, err, codes.Unavailable)
		if !slices.Equal(got, []string{"xa", "xb", "xc"}) || e.calls.Load() != 1 {
			t.Errorf("got %q in %d calls", got, e.calls.Load())
		}
	})
}

func TestAStreamOfAMethodThatMayNotBeRepeatedIsOpenedOnce(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := lister(nil, down)
		cs, err := open(t.Context(), connect(t, e, retries()), "x")
		if err != nil {
			t.Fatal(err)
		}
		if header, err := cs.Header(); header != nil || err != nil {
			t.Errorf("the header is %v, %v", header, err)
		}
		_, err = receive(cs)
		code(t, err, codes.Unavailable)
		if got := cs.Trailer()["stream"]; len(got) != 1 || e.calls.Load() != 1 {
			t.Errorf("the trailer has %q after %d calls", got, e.calls.Load())
		}
	})
}

func TestAStreamWithoutRepliesEndsWell(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := &echo{list: func(*text, grpc.ServerStream) error { return nil }}
		target := retries()
		target.Bulkhead = &bulkhead.Config{Limit: 1, HoldBody: true}
		cc := connect(t, e, target)
		for range 3 {
			cs, err := open(t.Context(), cc, "x")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := receive(cs); len(got) != 0 || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		}
	})
}

// chatter answers every message until the caller closes, and fails then.
func chatter(end error) *echo {
	e := &echo{}
	e.chat = func(ss grpc.ServerStream) error {
		e.came(ss.Context())
		for {
			m := new(text)
			if err := ss.RecvMsg(m); errors.Is(err, io.EOF) {
				return end
			} else if err != nil {
				return err
			}
			if err := ss.SendMsg(wrapperspb.String("re: " + m.GetValue())); err != nil {
				return err
			}
		}
	}
	return e
}

func TestAConversationGoesOnWhileItIsBeingOpened(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := chatter(nil)
		cc := connect(t, e, retries(), reads())
		cs, err := cc.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, chat)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{"a", "b"} {
			m := new(text)
			if err := cs.SendMsg(wrapperspb.String(s)); err != nil {
				t.Fatal(err)
			}
			if err := cs.RecvMsg(m); err != nil || m.GetValue() != "re: "+s {
				t.Fatalf("got %v, %v", m, err)
			}
		}
		_ = cs.CloseSend()
		if _, err := receive(cs); err != nil {
			t.Error(err)
		}
	})
}

func TestAConversationIsNotOpenedAgainOnceItsCallerHasIt(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := chatter(down)
		cs, err := connect(t, e, retries(), reads()).NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, chat)
		if err != nil {
			t.Fatal(err)
		}
		_ = cs.CloseSend()
		_, err = receive(cs)
		code(t, err, codes.Unavailable)
		if e.calls.Load() != 1 {
			t.Errorf("%d calls", e.calls.Load())
		}
	})
}

func TestManyRequestsAreAnsweredByOneReply(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := &echo{}
		e.gather = func(ss grpc.ServerStream) error {
			all := ""
			for {
				m := new(text)
				if err := ss.RecvMsg(m); err != nil {
					return ss.SendMsg(wrapperspb.String(all))
				}
				all += m.GetValue()
			}
		}
		target := retries()
		target.Bulkhead = &bulkhead.Config{Limit: 1, HoldBody: true}
		cc := connect(t, e, target)
		for range 2 { // the second finds the permit free
			cs, err := cc.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true}, gather)
			if err != nil {
				t.Fatal(err)
			}
			_ = cs.SendMsg(wrapperspb.String("a"))
			_ = cs.SendMsg(wrapperspb.String("b"))
			_ = cs.CloseSend()
			m := new(text)
			if err := cs.RecvMsg(m); err != nil || m.GetValue() != "ab" {
				t.Errorf("got %v, %v", m, err)
			}
		}
	})
}

func TestNeitherTimeoutNorTotalCutsAStream(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := &echo{}
		e.list = func(_ *text, ss grpc.ServerStream) error {
			if left, ok := deadline.Remaining(ss.Context()); ok {
				t.Errorf("the server was told of %v", left)
			}
			for range 5 {
				time.Sleep(time.Minute)
				if err := ss.SendMsg(wrapperspb.String("tick")); err != nil {
					return err
				}
			}
			return nil
		}
		target := retries()
		target.Timeout, target.Deadline = &timeout.Config{}, &deadline.Config{}
		cs, err := open(t.Context(), connect(t, e, target), "x")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := receive(cs); len(got) != 5 || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestAPermitIsHeldUntilTheFirstAnswer(t *testing.T) {
	for _, hold := range []bool{false, true} {
		virtual(t, func(t *testing.T) {
			e := &echo{}
			e.list = func(_ *text, ss grpc.ServerStream) error {
				time.Sleep(time.Second)
				_ = ss.SendMsg(wrapperspb.String("first"))
				return wait(ss.Context(), time.Hour)
			}
			target := only("test")
			target.Bulkhead = &bulkhead.Config{Limit: 1, HoldBody: hold}
			c := client(t, target)
			cc := dial(t, e.serve(t), c)
			ctx, cancel := context.WithCancel(t.Context())
			cs, err := open(ctx, cc, "x")
			if err != nil {
				t.Fatal(err)
			}
			b := c.Pipelines().Get("echo", backstay.Now()).Bulkhead()
			if b.InFlight() != 1 {
				t.Errorf("%d in flight before the answer", b.InFlight())
			}
			_ = cs.RecvMsg(new(text))
			synctest.Wait()
			if held := b.InFlight() == 1; held != hold {
				t.Errorf("%d in flight after the answer", b.InFlight())
			}
			cancel() // and nobody receives any more
			synctest.Wait()
			if b.InFlight() != 0 {
				t.Errorf("%d in flight after the end", b.InFlight())
			}
		})
	}
}

func TestTheBreakerSeesStreamsThatFailBeforeTheirAnswer(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := chatter(down)
		target := only("test")
		target.Breaker = &breaker.Config{}
		c := client(t, target)
		cc := dial(t, e.serve(t), c)
		for range 10 {
			cs, err := cc.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, chat)
			if err != nil {
				t.Fatal(err)
			}
			_ = cs.CloseSend()
			_, _ = receive(cs)
		}
		if state := c.Pipelines().Get("echo", backstay.Now()).Breaker().State(); state != breaker.Open {
			t.Errorf("the breaker is %v", state)
		}
	})
}

func TestAStreamThatNobodyAnswersEndsWithItsCaller(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := &echo{list: func(_ *text, ss grpc.ServerStream) error { return wait(ss.Context(), time.Hour) }}
		cc := connect(t, e, retries(), reads())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		cs, err := open(ctx, cc, "x")
		if err != nil {
			t.Fatal(err)
		}
		if cs.Context() != ctx {
			t.Error("before the answer the context is another than the caller's")
		}
		_, err = receive(cs)
		code(t, err, codes.DeadlineExceeded)
		unsent, err := cc.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, list) // nothing is sent on it
		if err == nil {
			t.Errorf("opened %v for a caller that has gone", unsent)
		}
	})
}

func TestCloseWaitsForStreamsThatNobodyAnswered(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := &echo{list: func(_ *text, ss grpc.ServerStream) error { return wait(ss.Context(), time.Hour) }}
		c := client(t, retries())
		cc := dial(t, e.serve(t), c)
		cs, err := open(t.Context(), cc, "x")
		if err != nil {
			t.Fatal(err)
		}
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Close(soon); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		_ = cc.Close()
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		_, err = receive(cs)
		code(t, err, codes.Canceled)
	})
}

// A panic below, wherever it happens, reaches the goroutine of the caller.
// Acceptance case C51.
func TestC51_APanicWhileAStreamIsOpenedReachesItsCaller(t *testing.T) {
	virtual(t, func(t *testing.T) {
		target := retries()
		target.Bulkhead = &bulkhead.Config{Limit: 1}
		panics := true
		c := client(t, target)
		below := func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
			if panics {
				panic("bug")
			}
			return streamer(ctx, desc, cc, method, options...)
		}
		cc := dial(t, lister(nil, down, down).serve(t), c, grpc.WithChainStreamInterceptor(below))
		func() {
			defer func() {
				if v := recover(); v != "bug" {
					t.Errorf("recovered %v", v)
				}
			}()
			if cs, err := open(t.Context(), cc, "x"); err == nil {
				_, _ = receive(cs)
			}
		}()
		panics = false
		if _, err := open(t.Context(), cc, "x"); err != nil {
			t.Errorf("the permit is lost: %v", err)
		}
	})
}

// Acceptance case C45.
func TestC45_AStreamHasNoFallback(t *testing.T) {
	virtual(t, func(t *testing.T) {
		cc := connect(t, lister(nil, status.Error(codes.Internal, "bug")), only("test"),
			grpcmw.WithFallback(grpcmw.Answer("any", "", func(context.Context, *text, error) (*text, error) {
				t.Error("a rung was asked")
				return nil, nil
			})))
		cs, err := open(t.Context(), cc, "x")
		if err != nil {
			t.Fatal(err)
		}
		_, err = receive(cs)
		code(t, err, codes.Internal)
	})
}

func TestAStreamIsNeverHedged(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := &echo{}
		e.list = func(req *text, ss grpc.ServerStream) error {
			e.came(ss.Context())
			if err := wait(ss.Context(), time.Second); err != nil {
				return err
			}
			return ss.SendMsg(req)
		}
		cs, err := open(t.Context(), connect(t, e, hedged(), reads()), "x")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := receive(cs); len(got) != 1 || err != nil || e.calls.Load() != 1 {
			t.Errorf("got %q, %v in %d calls", got, err, e.calls.Load())
		}
	})
}

// A header may say that the answer is not worth having.
func TestAStreamThatAClassifierRejectsIsEndedBeforeItIsOpenedAgain(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := &echo{}
		var first context.Context
		e.list = func(req *text, ss grpc.ServerStream) error {
			if e.came(ss.Context()) == 1 {
				first = ss.Context()
				_ = ss.SendHeader(metadata.Pairs("stale", "1"))
				return wait(first, time.Hour)
			}
			return ss.SendMsg(req)
		}
		cc := connect(t, e, retries(), reads(), grpcmw.WithClassifier(func(r *grpcmw.Reply, err error, o backstay.Outcome) backstay.Outcome {
			if err == nil && len(r.Header["stale"]) > 0 {
				o.Class = backstay.Transient
			}
			return o
		}))
		cs, err := open(t.Context(), cc, "x")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := receive(cs); !slices.Equal(got, []string{"x"}) || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		synctest.Wait()
		if first.Err() == nil {
			t.Error("the first stream goes on")
		}
	})
}

func TestAStreamWhoseRequestCannotBeSentIsNotOpenedAgain(t *testing.T) {
	virtual(t, func(t *testing.T) {
		opened := 0
		counting := func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
			opened++
			return streamer(ctx, desc, cc, method, options...)
		}
		cc := dial(t, lister(nil).serve(t), client(t, retries(), reads(), grpcmw.WithRetryable(codes.Internal, codes.Canceled)), grpc.WithChainStreamInterceptor(counting))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cs, err := cc.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, list)
		if err != nil {
			t.Fatal(err)
		}
		code(t, cs.SendMsg("no message"), codes.Internal)
		_, err = receive(cs)
		if err == nil || opened != 1 {
			t.Errorf("opened %d times: %v", opened, err)
		}
	})
}
