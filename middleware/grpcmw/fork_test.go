package grpcmw_test

import (
	"bytes"
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/timeout"
)

// lagging is an invoker whose chosen attempts ignore their cancellation and
// read their request a second after they were sent.
type lagging struct {
	lags func(ctx context.Context) bool
	sent func(req any, options []grpc.CallOption) // sees what every attempt sends
	read chan string                              // what the late ones read
}

func (l *lagging) invoke(ctx context.Context, _ string, req, reply any, _ *grpc.ClientConn, options ...grpc.CallOption) error {
	if l.sent != nil {
		l.sent(req, options)
	}
	if !l.lags(ctx) {
		return wait(ctx, 100*time.Millisecond)
	}
	time.Sleep(time.Second)
	l.read <- req.(*text).GetValue()
	reply.(*text).Value = "late"
	return nil
}

// A late copy, and an abandoned attempt, outlive their call.
func TestWhatOutlivesACallReadsItsOwnRequest(t *testing.T) {
	abandons := retries()
	abandons.Timeout = &timeout.Config{After: 200 * time.Millisecond, Abandon: true}
	for name, c := range map[string]struct {
		target middleware.Target
		lags   func(context.Context) bool
		late   int
	}{
		"a hedged copy":         {hedged(), func(ctx context.Context) bool { return hedge.Copy(ctx) == 2 }, 1},
		"an abandoned attempt":  {abandons, func(context.Context) bool { return true }, 3},
		"with a nearer end too": {abandons, func(ctx context.Context) bool { return hedge.Copy(ctx) == 1 }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				l := lagging{lags: c.lags, read: make(chan string, c.late)}
				policies := client(t, c.target, reads())
				req, reply := wrapperspb.String("asked"), new(text)
				passed := []grpc.CallOption{grpc.WaitForReady(true)}
				_ = policies.Unary(t.Context(), say, req, reply, nil, l.invoke, passed...)
				req.Value, reply.Value, passed[0] = "another", "mine", nil // the caller's again
				for range c.late {
					if got := <-l.read; got != "asked" {
						t.Errorf("the late one read %q", got)
					}
				}
				if err := policies.Close(t.Context()); err != nil || reply.GetValue() != "mine" {
					t.Errorf("closed: %v; the caller's reply became %q", err, reply.GetValue())
				}
			})
		})
	}
}

// The plain path copies nothing: what is sent is the caller's message.
func TestACallThatNothingOutlivesSendsTheCallersMessage(t *testing.T) {
	req := wrapperspb.String("asked")
	target := retries()
	target.Timeout = &timeout.Config{}
	var same []bool
	l := lagging{lags: func(context.Context) bool { return false }}
	l.sent = func(sent any, _ []grpc.CallOption) { same = append(same, sent == any(req)) }
	virtual(t, func(t *testing.T) {
		if err := client(t, target).Unary(t.Context(), say, req, new(text), nil, l.invoke); err != nil || !slices.Equal(same, []bool{true}) {
			t.Errorf("sent the caller's message: %v; %v", same, err)
		}
	})
}

// legacy is a message of before protobuf had reflection.
type legacy struct {
	Value *string `protobuf:"bytes,1,opt,name=value"`
}

func (m *legacy) Reset()         { *m = legacy{} }
func (m *legacy) String() string { return *m.Value }
func (*legacy) ProtoMessage()    {}

var _ protoadapt.MessageV1 = (*legacy)(nil)

// frame is what a proxy passes on without knowing what it is.
type frame struct{ body []byte }

// frames is the codec of a proxy, which hands out the bytes of its frames.
type frames struct{}

func (frames) Marshal(m any) ([]byte, error)      { return m.(*frame).body, nil }
func (frames) Unmarshal(data []byte, m any) error { m.(*frame).body = data; return nil }
func (frames) Name() string                       { return "backstay-test-frames" }

// opaque is of no codec's.
type opaque struct{ body []byte }

func TestMessagesOfEveryKindAreCopiedForWhatMayOutliveTheCall(t *testing.T) {
	encoding.RegisterCodec(frames{})
	value := "x"
	for _, c := range []struct {
		name    string
		req     any
		options []grpc.CallOption
		change  func(m any) // as the caller does afterwards
		same    func(m any) bool
		calls   int32
	}{
		{
			"no message", nil, nil,
			func(any) {}, func(m any) bool { return m == nil }, 2,
		},
		{
			"protobuf without reflection", &legacy{&value}, nil,
			func(m any) { *m.(*legacy).Value = "changed" }, func(m any) bool { return *m.(*legacy).Value == "x" }, 2,
		},
		{
			"bytes, by a forced codec", &frame{[]byte("x")}, []grpc.CallOption{grpc.ForceCodec(frames{})},
			func(m any) { m.(*frame).body[0] = 'y' }, func(m any) bool { return bytes.Equal(m.(*frame).body, []byte("x")) }, 2,
		},
		{
			"bytes, by a codec that is registered", &frame{[]byte("x")}, []grpc.CallOption{grpc.CallContentSubtype("backstay-test-frames")},
			func(m any) { m.(*frame).body[0] = 'y' }, func(m any) bool { return bytes.Equal(m.(*frame).body, []byte("x")) }, 2,
		},
		{
			"what no codec knows is sent once at a time", &opaque{[]byte("x")}, nil,
			func(any) {}, func(m any) bool { return m.(*opaque).body[0] == 'x' }, 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				policies := client(t, hedged(), reads())
				var calls atomic.Int32
				read := make(chan any, 2)
				err := policies.Unary(t.Context(), say, c.req, new(text), nil, func(ctx context.Context, _ string, req, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
					calls.Add(1)
					if hedge.Copy(ctx) == 2 {
						time.Sleep(time.Hour)
						read <- req
						return nil
					}
					return wait(ctx, time.Second)
				}, c.options...)
				if err != nil || calls.Load() != c.calls {
					t.Errorf("%d calls, want %d: %v", calls.Load(), c.calls, err)
				}
				c.change(c.req)
				if c.calls == 2 && !c.same(<-read) {
					t.Error("the late copy sent what the caller made of its request afterwards")
				}
				synctest.Wait()
			})
		})
	}
}

// A retry ends before the call does, so that it may send the caller's message.
func TestARequestThatCannotBeCopiedIsRetriedAndNotRefreshed(t *testing.T) {
	virtual(t, func(t *testing.T) {
		policies := client(t, retries(), reads(), staleByMethod(true))
		req, calls, failing := &opaque{[]byte("x")}, 0, false
		send := func() error {
			return policies.Unary(t.Context(), say, req, new(text), nil, func(_ context.Context, _ string, sent, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
				calls++
				if sent != any(req) || failing || calls == 1 {
					return down
				}
				return nil
			})
		}
		if err := send(); err != nil || calls != 2 {
			t.Errorf("%d calls: %v", calls, err)
		}
		failing = true
		if err := send(); err != nil || calls != 5 {
			t.Errorf("%d calls: %v", calls, err)
		}
		synctest.Wait()
		if calls != 5 {
			t.Errorf("%d calls after the stale reply", calls)
		}
	})
}
