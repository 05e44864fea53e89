package grpcmw_test

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/middleware/grpcmw"
)

// Acceptance case C45.
func TestC45_AFallbackFillsTheReply(t *testing.T) {
	virtual(t, func(t *testing.T) {
		constant := wrapperspb.String("from the list")
		cc := connect(t, failing(9, down), only("test"),
			grpcmw.WithFallback(
				grpcmw.Answer("another", "/other.Service/Say", func(context.Context, *text, error) (*text, error) {
					return wrapperspb.String("wrong"), nil
				}),
				grpcmw.Answer("typed", "", func(context.Context, *emptypb.Empty, error) (*text, error) {
					return wrapperspb.String("wrong"), nil
				}),
				grpcmw.Answer("list price", say, func(_ context.Context, req *text, cause error) (*text, error) {
					if req.GetValue() != "x" || !errors.Is(cause, down) {
						t.Errorf("asked %v because of %v", req, cause)
					}
					return constant, nil
				}),
			))
		ctx, report := backstay.WithReport(t.Context())
		reply := wrapperspb.String("old")
		if err := cc.Invoke(ctx, say, wrapperspb.String("x"), reply); err != nil || reply.GetValue() != "from the list" {
			t.Errorf("got %q, %v", reply.GetValue(), err)
		}
		if s := report.Summary(); !s.Degraded || s.Rung != "list price" {
			t.Errorf("the report says %v", s)
		}
		reply.Value = "changed"
		if constant.GetValue() != "from the list" {
			t.Error("the caller's reply shares the fallback's message")
		}
	})
}

// Acceptance case C45.
func TestC45_TheLastGoodReplyFillsTheReply(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := scripted(after(0, "good", nil), after(1, "", down), after(2, "", down))
		cc := connect(t, e, only("test"), grpcmw.WithStaleCache(grpcmw.StaleCache{
			Key: func(_ context.Context, q *grpcmw.Request) string {
				return q.Method + "?" + q.Message.(*text).GetValue()
			},
		}))
		reply := new(text)
		for range 2 {
			if err := cc.Invoke(t.Context(), say, wrapperspb.String("x"), reply); err != nil || reply.GetValue() != "good" {
				t.Errorf("got %q, %v", reply.GetValue(), err)
			}
			reply.Value = "changed"
		}
		if _, err := call(t.Context(), cc, "another"); !errors.Is(err, fallback.ErrNoAnswer) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAClearErrorIsTheStatusOfTheCall(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var rung fallback.For[*grpcmw.Request, *grpcmw.Reply]
		cc := connect(t, failing(9, down), only("test"),
			grpcmw.WithFallback(rung.Fail(status.Error(codes.FailedPrecondition, "the shop is closed"))))
		_, err := call(t.Context(), cc, "x")
		code(t, err, codes.FailedPrecondition)
		if !errors.Is(err, down) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAFallbackOfTheWrongTypeIsAnErrorAndNoPanic(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var rung fallback.For[*grpcmw.Request, *grpcmw.Reply]
		cc := connect(t, failing(9, down), only("test"), grpcmw.WithFallback(rung.Value(&grpcmw.Reply{Message: new(emptypb.Empty)})))
		_, err := call(t.Context(), cc, "x")
		code(t, err, codes.Internal)
	})
}
