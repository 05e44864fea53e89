package grpcmw

import (
	"math"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// sendable reports whether grpc-go can send the message at all. It is asked
// once an attempt has failed and nothing was heard of a server: a message with
// text that is not UTF-8, or longer than the connection allows, is no better in
// another attempt, and says nothing of the backend.
func (q *Request) sendable() bool {
	m, ok := q.Message.(proto.Message)
	if !ok {
		return true // only its codec knows
	}
	if proto.Size(m) > maxSend(q.options.passed) {
		return false
	}
	_, err := proto.Marshal(m)
	return err == nil
}

// maxSend returns how many bytes a message may have.
func maxSend(options []grpc.CallOption) int {
	limit := math.MaxInt
	for _, o := range options {
		if o, ok := o.(grpc.MaxSendMsgSizeCallOption); ok {
			limit = o.MaxSendMsgSize
		}
	}
	return limit
}
