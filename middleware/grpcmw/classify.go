package grpcmw

import (
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/wire"
)

// Classify is the default judgement of an RPC's end:
//
//	OK                                            success
//	UNAVAILABLE                                   transient
//	RESOURCE_EXHAUSTED                            overload; retried only if the server names a wait
//	DEADLINE_EXCEEDED, INTERNAL, UNKNOWN,
//	DATA_LOSS, codes that do not exist            fault
//	CANCELLED                                     canceled
//	the rest                                      permanent
//
// The server's wait is that of a google.rpc.RetryInfo in the status, which
// bounds it from below, or the trailer grpc-retry-pushback-ms, which is kept
// exactly. A pushback that is negative, unreadable or sent twice forbids a
// retry, as do the trailers x-backstay-retry: never, x-should-retry: false and
// x-envoy-ratelimited.
//
// Errors that know their own outcome, such as those of this module, keep it.
// That an attempt never reached a connection, and that the caller itself gave
// up, is recognised by the [Client], not here.
func Classify(err error, trailer metadata.MD) backstay.Outcome {
	if err == nil {
		return backstay.Outcome{}
	}
	s, ok := status.FromError(err)
	if !ok {
		s = status.FromContextError(err)
	}
	return ofStatus(s, trailer)
}

func ofStatus(s *status.Status, trailer metadata.MD) backstay.Outcome {
	o := backstay.Outcome{Class: classOf(s.Code()), RetryAfter: retryInfo(s)}
	signals := wire.ReadSignals(carrier(trailer))
	o.Final, o.Unsent = signals.Final, signals.Unsent
	if wait, retry, ok := wire.Pushback(trailer[wire.HeaderGRPCPushback]); ok && retry {
		o.RetryAfter, o.Pushback = wait, true
	}
	if o.Class == backstay.Overload && o.RetryAfter == 0 && !o.Pushback {
		o.Final = true // no word of when to come back: not at all
	}
	return o
}

func classOf(c codes.Code) backstay.Class {
	switch c {
	case codes.OK:
		return backstay.Success
	case codes.Unavailable:
		return backstay.Transient
	case codes.ResourceExhausted:
		return backstay.Overload
	case codes.Canceled:
		return backstay.Canceled
	case codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.PermissionDenied,
		codes.FailedPrecondition, codes.Aborted, codes.OutOfRange, codes.Unimplemented, codes.Unauthenticated:
		return backstay.Permanent
	case codes.DeadlineExceeded, codes.Internal, codes.Unknown, codes.DataLoss:
		return backstay.Fault
	default:
		return backstay.Fault
	}
}

// retryInfo returns the longest wait that the details of s ask for.
func retryInfo(s *status.Status) (wait time.Duration) {
	if len(s.Proto().GetDetails()) == 0 {
		return 0
	}
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok && info.GetRetryDelay().IsValid() {
			wait = max(wait, info.GetRetryDelay().AsDuration())
		}
	}
	return wait
}
