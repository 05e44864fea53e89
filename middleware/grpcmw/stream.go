package grpcmw

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/timeout"
)

// Stream is a grpc.StreamClientInterceptor.
//
// Policies act until the server first answers, by its headers, which come with
// the first message at the latest. Until then the stream holds its permit and
// may be opened again: with its one request where it is a stream of replies,
// and otherwise as long as no connection was found for it. From then on it is
// its caller's alone. The attempt timeout bounds the search for a connection;
// [WithFirstAnswer] bounds the server's first answer; neither they nor the
// total deadline bound the stream itself. Fallbacks do not answer for a stream,
// and it is never hedged.
func (c *Client) Stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
	if c.passed.has(method) {
		return streamer(ctx, desc, cc, method, options...)
	}
	began := backstay.Now()
	q := newRequest(ctx, method, cc)
	keyed, err := c.withKey(ctx, q)
	if err != nil {
		return nil, returned(ctx, err)
	}
	if !c.openings.Add() {
		return nil, returned(ctx, &middleware.ClosedError{Name: c.pipelines.Scope().Name()})
	}
	o := &opening{
		c: c, q: q, ctx: ctx, desc: desc, streamer: c.inner.streamer(streamer), options: options,
		handed: make(chan struct{}), complete: make(chan struct{}), done: make(chan struct{}),
	}
	q.stream = o
	go o.run(deadline.Unbounded(timeout.With(keyed, timeout.Off)), began)
	return o.hand()
}

// liveStream is a stream that the server has answered. It is over when it has
// ended by itself or when its context ends; then what was bound to it is freed.
type liveStream struct {
	stream grpc.ClientStream
	ended  error // how the stream had ended when the server answered; nil if it goes on

	mu   sync.Mutex
	over bool
	ends []backstay.Canceler
}

func newLiveStream(ctx context.Context, cancel context.CancelFunc, cs grpc.ClientStream, ended error) *liveStream {
	s := &liveStream{stream: cs, ended: ended, ends: []backstay.Canceler{backstay.CancelFunc(cancel)}}
	if ended != nil {
		s.end()
	} else {
		context.AfterFunc(ctx, s.end)
	}
	return s
}

// onEnd cancels c when the stream is over, at once if it is.
func (s *liveStream) onEnd(c backstay.Canceler) {
	s.mu.Lock()
	over := s.over
	if !over {
		s.ends = append(s.ends, c)
	}
	s.mu.Unlock()
	if over {
		c.Cancel()
	}
}

// end frees what the stream holds. It may be called again.
func (s *liveStream) end() {
	s.mu.Lock()
	ends := s.ends
	s.over, s.ends = true, nil
	s.mu.Unlock()
	for _, c := range ends {
		c.Cancel()
	}
}

// receive receives the next message; many says whether another may follow.
func (s *liveStream) receive(m any, many bool) error {
	if s.ended != nil {
		return s.ended
	}
	err := s.stream.RecvMsg(m)
	if err != nil || !many {
		s.end()
	}
	return err
}
