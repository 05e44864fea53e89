package grpcmw_test

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/backstay-go/backstay/middleware/grpcmw"
)

func TestTheReplyOfAnotherAttemptIsWholeWhateverItHolds(t *testing.T) {
	want, err := structpb.NewStruct(map[string]any{"list": []any{1, "a", nil}, "nested": map[string]any{"b": true}})
	if err != nil {
		t.Fatal(err)
	}
	want.ProtoReflect().SetUnknown([]byte{0x98, 0x06, 0x01}) // field 99 of a newer version
	c := client(t, retries(), reads())
	attempts := 0
	got, _ := structpb.NewStruct(map[string]any{"old": "value"})
	err = c.Unary(t.Context(), say, nil, got, nil, func(_ context.Context, _ string, _, reply any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
		if attempts++; attempts == 1 {
			return down
		}
		proto.Merge(reply.(proto.Message), want)
		return nil
	})
	if err != nil || !proto.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestTheReplyOfAFallbackIsCopiedInDepth(t *testing.T) {
	constant, err := structpb.NewStruct(map[string]any{"nested": map[string]any{"b": "good"}})
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, only("test"), grpcmw.WithFallback(grpcmw.Answer("constant", "",
		func(context.Context, *structpb.Struct, error) (*structpb.Struct, error) { return constant, nil })))
	got := new(structpb.Struct)
	err = c.Unary(t.Context(), say, new(structpb.Struct), got, nil,
		func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return down })
	if err != nil || !proto.Equal(got, constant) {
		t.Fatalf("got %v, %v", got, err)
	}
	got.Fields["nested"].GetStructValue().Fields["b"] = structpb.NewStringValue("changed")
	if constant.Fields["nested"].GetStructValue().Fields["b"].GetStringValue() != "good" {
		t.Error("the caller's reply shares the parts of the fallback's")
	}
}
