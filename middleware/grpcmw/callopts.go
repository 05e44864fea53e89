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
	passed   []grpc.CallOption // to every attempt as they are
	headers  []*metadata.MD
	trailers []*metadata.MD
	peers    []*peer.Peer
	finish   []func(error)
}

func splitOptions(all []grpc.CallOption) (s callOptions) {
	if !slices.ContainsFunc(all, writes) {
		s.passed = all
		return s
	}
	for _, o := range all {
		switch o := o.(type) {
		case grpc.HeaderCallOption:
			s.headers = append(s.headers, o.HeaderAddr)
		case grpc.TrailerCallOption:
			s.trailers = append(s.trailers, o.TrailerAddr)
		case grpc.PeerCallOption:
			s.peers = append(s.peers, o.PeerAddr)
		case grpc.OnFinishCallOption:
			s.finish = append(s.finish, o.OnFinish)
		default:
			s.passed = append(s.passed, o)
		}
	}
	return s
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
// where somebody wants it.
func (s *callOptions) of(r *Reply, header bool, room []grpc.CallOption) []grpc.CallOption {
	via, end := r.watching()
	all := append(append(room, s.passed...), grpc.Trailer(&r.Trailer), via, end)
	if header {
		all = append(all, grpc.Header(&r.Header))
	}
	return all
}

// publish tells the caller's options what r came to; r may be nil.
func (s *callOptions) publish(r *Reply, err error) {
	if r != nil {
		for _, to := range s.headers {
			*to = r.Header
		}
		for _, to := range s.trailers {
			*to = r.Trailer
		}
		for _, to := range s.peers {
			*to = r.peer
		}
	}
	for _, f := range s.finish {
		f(err)
	}
}
