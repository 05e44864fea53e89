package grpcmw

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
)

// fork returns the request of another attempt. A message that cannot be copied
// is lent to a retry, which ends before the call does; whatever may run on
// beside the call, and counts itself as attempt 1, is refused.
func (q *Request) fork(attempt int) (*Request, error) {
	m, err := cloneMessage(q.Message, q.options.passed)
	if err != nil && attempt == 1 {
		return nil, err
	}
	f := &Request{
		Method: q.Method, Message: m, Target: q.Target,
		cc: q.cc, reply: q.reply, replies: q.replies, invoker: q.invoker, options: q.options,
		keyed: q.keyed, repeatable: q.repeatable, hedgeable: q.hedgeable, forked: true,
	}
	f.options.passed = slices.Clone(q.options.passed)
	if err != nil {
		f.Message, f.borrowed = q.Message, true
	}
	return f, nil
}

// cloneMessage copies a message in depth: as what it is, or, where only the
// call's codec knows what it is, by way of that.
func cloneMessage(m any, options []grpc.CallOption) (any, error) {
	switch m := m.(type) {
	case nil:
		return nil, nil
	case proto.Message:
		return proto.Clone(m), nil
	case protoadapt.MessageV1:
		return protoadapt.MessageV1Of(proto.Clone(protoadapt.MessageV2Of(m))), nil
	}
	c, t := codecOf(options), reflect.TypeOf(m)
	if c == nil || t.Kind() != reflect.Pointer {
		return nil, fmt.Errorf("grpcmw: a request of type %T cannot be copied", m)
	}
	data, err := c.Marshal(m)
	if err != nil {
		return nil, err
	}
	clone := reflect.New(t.Elem()).Interface()
	return clone, c.Unmarshal(bytes.Clone(data), clone) // cloned: a codec of raw bytes hands out its message's
}

// codec is the little of a codec that a copy takes.
type codec interface {
	Marshal(m any) ([]byte, error)
	Unmarshal(data []byte, m any) error
}

// codecOf returns the codec that the options of a call name; nil if none does.
func codecOf(options []grpc.CallOption) (c codec) {
	forced := false
	for _, o := range options {
		switch o := o.(type) {
		case grpc.ForceCodecV2CallOption:
			c, forced = buffered{o.CodecV2}, true
		case grpc.ForceCodecCallOption:
			c, forced = o.Codec, true
		case grpc.ContentSubtypeCallOption:
			if !forced {
				c = registered(o.ContentSubtype)
			}
		}
	}
	return c
}

// registered returns the codec of a content subtype; nil if there is none.
func registered(subtype string) codec {
	if c := encoding.GetCodecV2(subtype); c != nil {
		return buffered{c}
	}
	if c := encoding.GetCodec(subtype); c != nil {
		return c
	}
	return nil
}

// buffered is a codec whose bytes come in several buffers.
type buffered struct{ encoding.CodecV2 }

// Marshal returns the bytes in one piece.
func (c buffered) Marshal(m any) ([]byte, error) {
	data, err := c.CodecV2.Marshal(m)
	defer data.Free()
	return data.Materialize(), err
}

// Unmarshal takes the bytes in one piece.
func (c buffered) Unmarshal(data []byte, m any) error {
	return c.CodecV2.Unmarshal(mem.BufferSlice{mem.SliceBuffer(data)}, m)
}
