package grpcmw

import (
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
)

// callOptions are the caller's options of a unary call. Those that grpc-go
// writes to at the end of an attempt are kept apart: a late copy must not write
// what the caller reads already, so each attempt writes to a [Reply] of its
// own, and the end of the call publishes one of them.
type callOptions struct {
	passed  []grpc.CallOption // to every attempt as they are
	written *writtenOptions   // nil where there are none, as mostly
}

// writtenOptions is where the end of the call is published.
type writtenOptions struct {
	headers  []*metadata.MD
	trailers []*metadata.MD
	peers    []*peer.Peer
	finish   []func(error)
}

func splitOptions(all []grpc.CallOption) callOptions {
	if !slices.ContainsFunc(all, writes) {
		return callOptions{passed: all}
	}
	s := callOptions{written: new(writtenOptions)}
	for _, o := range all {
		if !s.written.take(o) {
			s.passed = append(s.passed, o)
		}
	}
	return s
}

// take takes o in if it is one that is written to.
func (w *writtenOptions) take(o grpc.CallOption) bool {
	switch o := o.(type) {
	case grpc.HeaderCallOption:
		w.headers = append(w.headers, o.HeaderAddr)
	case grpc.TrailerCallOption:
		w.trailers = append(w.trailers, o.TrailerAddr)
	case grpc.PeerCallOption:
		w.peers = append(w.peers, o.PeerAddr)
	case grpc.OnFinishCallOption:
		w.finish = append(w.finish, o.OnFinish)
	default:
		return false
	}
	return true
}

// writes reports whether grpc-go, at the end of an attempt, tells o something.
func writes(o grpc.CallOption) bool {
	switch o.(type) {
	case grpc.HeaderCallOption, grpc.TrailerCallOption, grpc.PeerCallOption, grpc.OnFinishCallOption:
		return true
	default:
		return false
	}
}

// of returns the options of one attempt, which writes to r; in room, if that
// is enough. The header costs several allocations, and so is asked for only
// where somebody wants it: the Client, or the call.
func (s *callOptions) of(r *Reply, header bool, room []grpc.CallOption) []grpc.CallOption {
	via, end := r.watching()
	all := append(append(room, s.passed...), grpc.Trailer(&r.Trailer), via, end)
	if header || s.written != nil && len(s.written.headers) > 0 {
		all = append(all, grpc.Header(&r.Header))
	}
	return all
}

// publish tells the caller's options what r came to; r may be nil.
func (s *callOptions) publish(r *Reply, err error) {
	if s.written == nil {
		return
	}
	if r != nil {
		s.written.fill(r)
	}
	for _, f := range s.written.finish {
		f(err)
	}
}

// fill writes what came beside the message of r.
func (w *writtenOptions) fill(r *Reply) {
	for _, to := range w.headers {
		*to = r.Header
	}
	for _, to := range w.trailers {
		*to = r.Trailer
	}
	for _, to := range w.peers {
		*to = r.peer
	}
}
