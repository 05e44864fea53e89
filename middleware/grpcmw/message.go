package grpcmw

import (
	"reflect"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// replyType makes messages of the type of a caller's reply. It is asked for
// once, on the caller's goroutine: a late copy must not even look at the reply,
// which its caller may be using by then. The zero replyType makes none.
type replyType struct {
	// of is a protoreflect.MessageType, or for a reply that is no protobuf
	// message the reflect.Type of what it points to.
	of any
}

func typeOf(reply any) replyType {
	if m, ok := reply.(proto.Message); ok {
		return replyType{m.ProtoReflect().Type()}
	}
	if t := reflect.TypeOf(reply); t != nil && t.Kind() == reflect.Pointer {
		return replyType{t.Elem()}
	}
	return replyType{}
}

// known reports whether messages of the type can be made.
func (t replyType) known() bool { return t.of != nil }

// fresh returns an empty message.
func (t replyType) fresh() any {
	switch of := t.of.(type) {
	case protoreflect.MessageType:
		return of.New().Interface()
	case reflect.Type:
		return reflect.New(of).Interface()
	default:
		return nil
	}
}

// fill puts the message of r into the caller's reply, unless it was decoded
// there. The parts of a message that is nobody else's are handed over, those of
// any other are copied.
func (q *Request) fill(r *Reply) error {
	if r == &q.answer || r.Message == nil || sameMessage(q.reply, r.Message) {
		return nil
	}
	if reflect.TypeOf(q.reply) != reflect.TypeOf(r.Message) {
		return status.Errorf(codes.Internal, "grpcmw: the answer to %s is a %T, and its caller expects a %T", q.Method, r.Message, q.reply)
	}
	to, ok := q.reply.(proto.Message)
	switch from, isProto := r.Message.(proto.Message); {
	case !ok || !isProto:
		reflect.ValueOf(q.reply).Elem().Set(reflect.ValueOf(r.Message).Elem())
	case r.own:
		move(to.ProtoReflect(), from.ProtoReflect())
	default:
		proto.Reset(to)
		proto.Merge(to, from)
	}
	return nil
}

// sameMessage reports whether a and b are one message: a reply that cannot be
// made again is handed to the attempt itself.
func sameMessage(a, b any) bool {
	t := reflect.TypeOf(a)
	return t == reflect.TypeOf(b) && t.Comparable() && a == b
}

// move gives to the fields of from, which must not be used afterwards.
func move(to, from protoreflect.Message) {
	proto.Reset(to.Interface())
	from.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		to.Set(field, v)
		return true
	})
	if unknown := from.GetUnknown(); len(unknown) > 0 {
		to.SetUnknown(unknown)
	}
}
