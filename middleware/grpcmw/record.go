package grpcmw

import (
	"context"
	"encoding/json"
	"sync"

	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/wire"
)

// record is an answer as it is kept: the message with its type, or the status
// of an error, and the metadata. Metadata may be binary, hence the bytes.
type record struct {
	Message []byte              `json:"message,omitempty"` // a google.protobuf.Any
	Status  []byte              `json:"status,omitempty"`  // a google.rpc.Status
	Header  map[string][][]byte `json:"header,omitempty"`
	Trailer map[string][][]byte `json:"trailer,omitempty"`
}

// encode makes the record of an answer.
func encode(reply any, err error, header, trailer metadata.MD) ([]byte, error) {
	rec := record{Header: wire.Bytes(header), Trailer: wire.Bytes(trailer)}
	var fault error
	if err != nil {
		rec.Status, fault = proto.Marshal(grpcstatus.Convert(err).Proto())
	} else {
		rec.Message, fault = packed(reply)
	}
	if fault != nil {
		return nil, fault
	}
	return json.Marshal(rec)
}

// packed returns a message with its type.
func packed(reply any) ([]byte, error) {
	m, ok := reply.(proto.Message)
	if !ok {
		return nil, errNotProto
	}
	boxed, err := anypb.New(m)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(boxed)
}

var errNotProto = grpcstatus.Error(codes.Internal, "the reply is no protobuf message and cannot be kept")

func decode(data []byte) (rec record, err error) {
	err = json.Unmarshal(data, &rec)
	return rec, err
}

func (r record) header() metadata.MD  { return wire.Texts(r.Header) }
func (r record) trailer() metadata.MD { return wire.Texts(r.Trailer) }

// reply returns what the handler returned: a message or an error.
func (r record) reply() (any, error) {
	if r.Status != nil {
		var s status.Status
		if err := proto.Unmarshal(r.Status, &s); err != nil {
			return nil, err
		}
		return nil, grpcstatus.FromProto(&s).Err()
	}
	var boxed anypb.Any
	if err := proto.Unmarshal(r.Message, &boxed); err != nil {
		return nil, err
	}
	return boxed.UnmarshalNew()
}

// recorder remembers the metadata that a handler sets, while it passes on to
// the RPC's own stream.
type recorder struct {
	grpc.ServerTransportStream // nil where the handler runs outside of grpc-go

	mu              sync.Mutex
	header, trailer metadata.MD
}

func newRecorder(ctx context.Context) *recorder {
	return &recorder{ServerTransportStream: grpc.ServerTransportStreamFromContext(ctx)}
}

// context returns ctx with the recorder in the place of the RPC's own stream.
func (r *recorder) context(ctx context.Context) context.Context {
	if r.ServerTransportStream == nil {
		return ctx
	}
	return grpc.NewContextWithServerTransportStream(ctx, r)
}

// answer returns the handler's answer for the guard to keep: an answer that
// cannot be recorded is remembered only as having been given.
func (r *recorder) answer(reply any, err error) idempotency.Answer {
	r.mu.Lock()
	header, trailer := r.header.Copy(), r.trailer.Copy()
	r.mu.Unlock()
	data, fault := encode(reply, err, header, trailer)
	if fault != nil {
		return idempotency.Answer{Keep: idempotency.KeepMark}
	}
	return idempotency.Answer{Data: data}
}

// SetHeader remembers md and passes it on.
func (r *recorder) SetHeader(md metadata.MD) error {
	r.note(&r.header, md)
	return r.ServerTransportStream.SetHeader(md)
}

// SendHeader remembers md and passes it on.
func (r *recorder) SendHeader(md metadata.MD) error {
	r.note(&r.header, md)
	return r.ServerTransportStream.SendHeader(md)
}

// SetTrailer remembers md and passes it on.
func (r *recorder) SetTrailer(md metadata.MD) error {
	r.note(&r.trailer, md)
	return r.ServerTransportStream.SetTrailer(md)
}

func (r *recorder) note(to *metadata.MD, md metadata.MD) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*to = metadata.Join(*to, md)
}
