package grpcmw_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/grpcmw"
)

// hedged returns a target that sends a copy after 10 ms.
func hedged() middleware.Target {
	t := only("test")
	t.Hedge = &hedge.Config{Delay: 10 * time.Millisecond}
	return t
}

// wait waits in virtual time, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}

// scripted returns a backend that answers call n by the n-th step.
func scripted(steps ...func(ctx context.Context) (string, error)) *echo {
	e := &echo{}
	e.say = func(ctx context.Context, _ *text) (*text, error) {
		s, err := steps[e.came(ctx)-1](ctx)
		if err != nil {
			return nil, err
		}
		return wrapperspb.String(s), nil
	}
	return e
}

func after(d time.Duration, s string, err error) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if fault := wait(ctx, d); fault != nil {
			return "", fault
		}
		return s, err
	}
}

func TestTheCopyOfASlowReadAnswers(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := scripted(after(time.Hour, "first", nil), after(time.Millisecond, "copy", nil))
		cc := connect(t, e, hedged(), reads())
		if got, err := call(t.Context(), cc, "x"); got != "copy" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if got := e.metadata(2, "grpc-previous-rpc-attempts"); len(got) != 1 || got[0] != "1" {
			t.Errorf("the copy told %q", got)
		}
	})
}

// Acceptance case C35.
func TestC35_AHedgeThatFailsAtOnceDoesNotBeatTheFirst(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := scripted(after(50*time.Millisecond, "first", nil), after(0, "", down))
		if got, err := call(t.Context(), connect(t, e, hedged(), reads()), "x"); got != "first" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// Acceptance case C36.
func TestC36_AHedgeThatIsUnavailableFirstDoesNotBeatTheFirst(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := scripted(after(50*time.Millisecond, "first", nil), after(5*time.Millisecond, "", status.Error(codes.ResourceExhausted, "busy")))
		if got, err := call(t.Context(), connect(t, e, hedged(), reads()), "x"); got != "first" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestWritesAreHedgedOnlyByMark(t *testing.T) {
	for _, c := range []struct {
		name    string
		ctx     func(context.Context) context.Context
		options []grpcmw.Option
		calls   int64
	}{
		{"nothing is known", hedge.Mark, nil, 1},
		{"idempotent, unmarked", nil, []grpcmw.Option{grpcmw.WithIdempotent(say)}, 1},
		{"idempotent, marked", hedge.Mark, []grpcmw.Option{grpcmw.WithIdempotent(say)}, 2},
		{"keyed, marked", func(ctx context.Context) context.Context { return hedge.Mark(idempotency.WithKey(ctx, "k")) }, nil, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				e := scripted(after(50*time.Millisecond, "a", nil), after(50*time.Millisecond, "b", nil))
				cc := connect(t, e, hedged(), c.options...)
				ctx := t.Context()
				if c.ctx != nil {
					ctx = c.ctx(ctx)
				}
				if _, err := call(ctx, cc, "x"); err != nil {
					t.Error(err)
				}
				if got := e.calls.Load(); got != c.calls {
					t.Errorf("%d calls, want %d", got, c.calls)
				}
			})
		})
	}
}

// The loser is a copy whose invoker ignores its cancellation and writes its
// reply, header, trailer and peer long after the call has returned.
// Acceptance case C40.
func TestC40_ALoserThatEndsLaterChangesNeitherReplyNorOptions(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := scripted(after(50*time.Millisecond, "first", nil))
		late := make(chan struct{})
		stubborn := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, options ...grpc.CallOption) error {
			if hedge.Copy(ctx) == 1 {
				return invoker(ctx, method, req, reply, cc, options...)
			}
			time.Sleep(time.Second)
			reply.(*text).Value = "late"
			for _, o := range options {
				switch o := o.(type) {
				case grpc.HeaderCallOption:
					*o.HeaderAddr = metadata.Pairs("from", "late")
				case grpc.TrailerCallOption:
					*o.TrailerAddr = metadata.Pairs("from", "late")
				case grpc.PeerCallOption:
					*o.PeerAddr = peer.Peer{}
				case grpc.OnFinishCallOption:
					o.OnFinish(nil)
				}
			}
			close(late)
			return nil
		}
		c := client(t, hedged(), reads())
		cc := dial(t, e.serve(t), c, grpc.WithChainUnaryInterceptor(stubborn))

		var header, trailer metadata.MD
		var from peer.Peer
		finished := 0
		reply := wrapperspb.String("old")
		err := cc.Invoke(t.Context(), say, wrapperspb.String("x"), reply,
			grpc.Header(&header), grpc.Trailer(&trailer), grpc.Peer(&from), grpc.OnFinish(func(error) { finished++ }))
		if err != nil || reply.GetValue() != "first" {
			t.Errorf("got %q, %v", reply.GetValue(), err)
		}
		<-late
		synctest.Wait()
		if reply.GetValue() != "first" || header["from"] != nil || len(header) == 0 || trailer["from"] != nil || from.Addr == nil || finished != 1 {
			t.Errorf("the loser left %q, %v, %v, %v, finished %d times", reply.GetValue(), header, trailer, from.Addr, finished)
		}
	})
}

// plain is a message of a codec that knows no protobuf.
type plain struct{ Text string }

type jsonCodec struct{}

func (jsonCodec) Marshal(v any) ([]byte, error) {
	if m, ok := v.(*text); ok {
		v = &plain{m.GetValue()}
	}
	return json.Marshal(v)
}

func (jsonCodec) Unmarshal(data []byte, v any) error {
	m, ok := v.(*text)
	if !ok {
		return json.Unmarshal(data, v)
	}
	var p plain
	err := json.Unmarshal(data, &p)
	m.Value = p.Text
	return err
}

func (jsonCodec) Name() string { return "backstay-test-json" }

func TestRepliesOfOtherCodecsAreIsolatedToo(t *testing.T) {
	encoding.RegisterCodec(jsonCodec{})
	virtual(t, func(t *testing.T) {
		e := scripted(after(time.Hour, "first", nil), after(0, "copy", nil))
		cc := connect(t, e, hedged(), reads())
		var got plain
		err := cc.Invoke(t.Context(), say, &plain{"x"}, &got, grpc.CallContentSubtype("backstay-test-json"))
		if err != nil || got.Text != "copy" {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

func TestAReplyThatCannotBeMadeAgainIsNeitherHedgedNorRetried(t *testing.T) {
	virtual(t, func(t *testing.T) {
		calls := 0
		target := retries()
		target.Hedge = &hedge.Config{Delay: time.Nanosecond}
		c := client(t, target, reads())
		invoker := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			calls++
			time.Sleep(time.Millisecond)
			return down
		}
		err := c.Unary(t.Context(), say, nil, map[string]string{}, nil, invoker)
		code(t, err, codes.Unavailable)
		if calls != 1 {
			t.Errorf("%d calls", calls)
		}
	})
}
