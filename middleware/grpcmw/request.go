package grpcmw

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/retry"
)

// Request is one call, as keys, classifiers and fallbacks see it. It must not
// be changed.
type Request struct {
	// Method is the full method, such as "/inventory.v1.Stock/Get".
	Method string
	// Message is the request's message; nil where the call is a stream.
	Message any
	// Target is the target of the connection, as it was dialled.
	Target string

	cc      *grpc.ClientConn
	reply   any       // the caller's
	replies replyType // makes those of the attempts
	invoker grpc.UnaryInvoker
	options callOptions
	stream  *opening // nil for a unary call

	keyed      bool // carries an idempotency key
	repeatable bool // the caller's mark, see retry.MarkRepeatable
	hedgeable  bool // the caller's mark, see hedge.Mark
	forked     bool // not the caller's own
	borrowed   bool // a fork whose Message is the caller's all the same

	// A Request is sent once, since further attempts send forks of it. So it
	// has room for what its attempt needs.
	answer Reply
	room   [4]grpc.CallOption
}

// Service returns the service of the method, such as "inventory.v1.Stock".
func (q *Request) Service() string {
	service, _ := cutMethod(q.Method)
	return strings.Trim(service, "/")
}

// Streaming reports whether the call is a stream of any kind.
func (q *Request) Streaming() bool { return q.stream != nil }

// Host returns the endpoint within Target: "stock:443" of
// "dns:///stock:443". Paths of sockets are left as they are.
func (q *Request) Host() string {
	if strings.HasPrefix(q.Target, "unix") {
		return q.Target
	}
	return q.Target[strings.LastIndexByte(q.Target, '/')+1:]
}

// newRequest returns what every kind of call has.
func newRequest(ctx context.Context, method string, cc *grpc.ClientConn) *Request {
	q := &Request{
		Method: method, cc: cc,
		repeatable: retry.Repeatable(ctx), hedgeable: hedge.Marked(ctx),
	}
	if cc != nil {
		q.Target = cc.Target()
	}
	return q
}

// Reply is the answer to a [Request]: what one attempt, or a fallback, came to.
type Reply struct {
	// Message is the reply's message, of the type that the caller expects; nil
	// for a stream.
	Message any
	// Header and Trailer are the metadata that came with it.
	Header, Trailer metadata.MD

	own      bool // Message is nobody else's: its parts may be handed on
	peer     peer.Peer
	finished bool // grpc-go itself has ended the attempt
	live     *liveStream
}

// watching returns the options by which grpc-go tells how far the attempt got.
func (r *Reply) watching() (via, end grpc.CallOption) {
	return grpc.Peer(&r.peer), grpc.OnFinish(r.finish)
}

func (r *Reply) finish(error) { r.finished = true }

// heard reports whether anything came from a server.
func (r *Reply) heard() bool { return len(r.Header)+len(r.Trailer) > 0 }

// unsent reports whether the attempt is known to have ended without a
// connection: grpc-go says that it ended, and knows no peer. Where an
// interceptor answers by itself, or loses the options of the call, nothing is
// known.
func (r *Reply) unsent() bool {
	return r.finished && r.peer.Addr == nil && r.peer.LocalAddr == nil && r.peer.AuthInfo == nil
}
