package grpcmw

import (
	"errors"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
)

// domain says in a google.rpc.ErrorInfo whose reasons they are.
const domain = "backstay"

// public returns err, which has a status, with the one that the caller of a
// [Server] may see. Where a policy refused, here or in a call of the handler,
// the message is that of [middleware.Told], and the text of err is left to the
// observer. The reason becomes a google.rpc.ErrorInfo, and the wait of a guard a
// google.rpc.RetryInfo, so that every gRPC client that knows it comes back in
// time.
func public(err error) error {
	text, reason := middleware.Told(err)
	s, ok := status.FromError(err)
	if text == "" || !ok || cleared(err) {
		return err
	}
	told := status.New(s.Code(), text)
	var details []protoadapt.MessageV1
	if reason != "" {
		details = append(details, &errdetails.ErrorInfo{Reason: strings.ToUpper(string(reason)), Domain: domain})
	}
	if refusal, ok := errors.AsType[*idempotency.Error](err); ok && refusal.RetryAfter > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(refusal.RetryAfter)})
	}
	if detailed, fault := told.WithDetails(details...); fault == nil {
		told = detailed
	}
	return &statusError{err, told}
}

// cleared reports whether the configuration says what callers are to see.
func cleared(err error) bool {
	f, ok := errors.AsType[*fallback.Error](err)
	return ok && f.Clear != nil
}
