package grpcmw

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/timeout"
)

// opening is a stream as its caller sees it. Policies act on the stream until
// the server first answers, by its headers, which come with the first message
// at the latest; or by the end of the stream. That takes a goroutine, because
// the caller meanwhile sends: the policies wait there for the answer, and open
// the stream anew where it fails and that is possible.
type opening struct {
	c        *Client
	q        *Request
	ctx      context.Context //nolint:containedctx // a stream hands out its context
	desc     *grpc.StreamDesc
	streamer grpc.Streamer
	options  []grpc.CallOption

	handed   chan struct{} // closed when the caller has the stream
	complete chan struct{} // closed when a single request has been sent, or cannot be
	done     chan struct{} // closed when the opening has ended; what follows is set then
	reply    *Reply        // with the stream that the server answered
	err      error
	panicked any

	mu       sync.Mutex
	current  grpc.ClientStream // of the latest attempt
	request  any               // the message of a single request
	closed   bool              // the caller has closed its side
	unusable bool              // the request could not be sent
}

// errGone is the end of an opening whose goroutine was ended by a callback.
var errGone = errors.New("grpcmw: the opening of the stream was ended by runtime.Goexit")

// single reports whether the caller sends one message and then receives: only
// then is there something that can be sent again.
func (o *opening) single() bool { return o.desc.ServerStreams && !o.desc.ClientStreams }

// run takes the opening through the pipeline of its key.
func (o *opening) run(ctx context.Context, began backstay.Instant) {
	defer o.c.openings.Done()
	defer close(o.done)
	defer func() {
		if v := recover(); v != nil {
			o.panicked = v // it reaches the caller's goroutine
		}
	}()
	o.err = errGone // what stands if a callback exits
	p := o.c.pipelines.Get(o.c.keyOf(ctx, o.q), began)
	r, err := middleware.RunAt(ctx, began, p, nil, o.c.exchange, o.q, o.attempt)
	o.reply, o.err = r, returned(ctx, err)
}

// attempt opens the stream once and waits for the server's answer.
func (o *opening) attempt(ctx context.Context, q *Request) (*Reply, error) {
	a := newStreamAttempt(o.c.outgoing(ctx, q), o.c.pipelines.Scope().Name())
	r := &Reply{}
	defer func() {
		if r.live == nil {
			a.end() // also where streamer panics or exits its goroutine
		}
	}()
	cs, err := o.connect(a, r)
	if err != nil {
		return nil, a.cutShort(o.c.failed(q, r, err))
	}
	o.begin(cs)
	err = o.answered(a, cs, r)
	if err != nil && !errors.Is(err, io.EOF) {
		// r is not looked at, since grpc-go may still write to it.
		return nil, a.cutShort(o.c.failed(q, &Reply{Trailer: cs.Trailer()}, err))
	}
	r.live = newLiveStream(a, a.end, cs, err)
	return r, nil
}

// connect has the stream opened, for which grpc-go may have to wait for a
// connection: as long as an attempt may take.
func (o *opening) connect(a *streamAttempt, r *Reply) (grpc.ClientStream, error) {
	inTime := a.limit(o.c.now().opens.AfterUnder(o.ctx))
	via, end := r.watching()
	cs, err := o.streamer(a, o.desc, o.q.cc, o.q.Method, append(slices.Clip(o.options), via, end)...)
	if err == nil && !inTime() {
		err = status.FromContextError(a.Err()).Err()
	}
	return cs, err
}

// begin makes cs the current stream. The first one goes to the caller; those
// of later attempts are sent what the caller has sent.
func (o *opening) begin(cs grpc.ClientStream) {
	o.mu.Lock()
	first := o.current == nil
	o.current = cs
	request := o.request
	o.mu.Unlock()
	if first {
		close(o.handed)
		return
	}
	_ = cs.SendMsg(request) // if it fails, the stream's end says why
	_ = cs.CloseSend()
}

// answered waits until the server has answered, and returns nil, or until the
// stream has ended without an answer: io.EOF if well.
func (o *opening) answered(a *streamAttempt, cs grpc.ClientStream, r *Reply) error {
	inTime := a.limit(timeout.Off)
	if o.single() {
		select {
		case <-o.complete:
		case <-a.Done():
		}
		inTime = a.limit(o.c.firstAnswer)
	}
	header, err := cs.Header()
	if err == nil && header == nil {
		err = cs.RecvMsg(new(emptypb.Empty)) // receives nothing: the stream has ended
	}
	if !inTime() && err == nil {
		err = status.FromContextError(a.Err()).Err()
	}
	r.Header = header
	return err
}

// repeatable returns nil if the stream can be opened once more. A nil opening
// is that of a unary call.
func (o *opening) repeatable() error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.current == nil:
		return nil // the caller has not seen it
	case !o.single():
		return errors.New("grpcmw: a stream of requests is not opened again once its caller has it")
	case o.unusable || !o.closed:
		return errors.New("grpcmw: the stream's request was not sent")
	default:
		return nil
	}
}

// hand returns the stream as soon as there is one, or the error why there is
// none. A stream that has failed since is there all the same: RecvMsg will say.
func (o *opening) hand() (grpc.ClientStream, error) {
	select {
	case <-o.handed:
	case <-o.done:
	}
	select {
	case <-o.handed:
		return o, nil
	default:
	}
	if _, err := o.wait(); err != nil {
		return nil, err
	}
	return o, nil
}

// wait returns the stream once the server has answered it, or the error of the
// opening.
func (o *opening) wait() (*liveStream, error) {
	<-o.done
	if o.panicked != nil {
		panic(o.panicked)
	}
	if o.err != nil {
		return nil, o.err
	}
	return o.reply.live, nil
}

// Header waits for the server's answer and returns its header metadata; nil
// where there is none because the stream has ended, as RecvMsg will say.
func (o *opening) Header() (metadata.MD, error) {
	if _, err := o.wait(); err != nil {
		return nil, nil //nolint:nilerr // the contract of grpc.ClientStream
	}
	return o.reply.Header, nil
}

// Trailer returns the trailer metadata; see grpc.ClientStream for when.
func (o *opening) Trailer() metadata.MD {
	live, err := o.wait()
	if err == nil {
		return live.stream.Trailer()
	}
	if f, ok := errors.AsType[*attemptError](err); ok {
		return f.reply.Trailer
	}
	return nil
}

// Context returns the context of the stream; until it is open, its caller's.
func (o *opening) Context() context.Context {
	select {
	case <-o.done:
		if o.panicked == nil && o.err == nil {
			return o.reply.live.stream.Context()
		}
	default:
	}
	return o.ctx
}

// SendMsg sends m on the stream of the latest attempt. The message of a single
// request is kept for another attempt; as ever, it must not be changed.
func (o *opening) SendMsg(m any) error {
	o.mu.Lock()
	cs := o.current
	if o.single() {
		o.request = m
	}
	o.mu.Unlock()
	err := cs.SendMsg(m)
	if err != nil && o.single() {
		o.finishRequest(true)
	}
	return err
}

// CloseSend ends the caller's side of the stream.
func (o *opening) CloseSend() error {
	o.mu.Lock()
	cs := o.current
	o.mu.Unlock()
	err := cs.CloseSend()
	o.finishRequest(err != nil)
	return err
}

// finishRequest says that the caller will send no more.
func (o *opening) finishRequest(unusable bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unusable = o.unusable || unusable || o.request == nil
	if !o.closed {
		o.closed = true
		close(o.complete)
	}
}

// RecvMsg waits for the server's answer and receives the next message. What
// fails after the answer is not repeated.
func (o *opening) RecvMsg(m any) error {
	live, err := o.wait()
	if err != nil {
		return err
	}
	return live.receive(m, o.desc.ServerStreams)
}
