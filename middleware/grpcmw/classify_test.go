package grpcmw_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware/grpcmw"
)

func TestClassifyFollowsTheTable(t *testing.T) {
	for c, want := range map[codes.Code]backstay.Class{
		codes.OK: backstay.Success, codes.Unavailable: backstay.Transient, codes.ResourceExhausted: backstay.Overload,
		codes.DeadlineExceeded: backstay.Fault, codes.Internal: backstay.Fault, codes.Unknown: backstay.Fault,
		codes.DataLoss: backstay.Fault, codes.Canceled: backstay.Canceled,
		codes.InvalidArgument: backstay.Permanent, codes.NotFound: backstay.Permanent, codes.AlreadyExists: backstay.Permanent,
		codes.PermissionDenied: backstay.Permanent, codes.FailedPrecondition: backstay.Permanent, codes.Aborted: backstay.Permanent,
		codes.OutOfRange: backstay.Permanent, codes.Unimplemented: backstay.Permanent, codes.Unauthenticated: backstay.Permanent,
		99: backstay.Fault,
	} {
		if got := grpcmw.Classify(status.Error(c, "x"), nil); got.Class != want {
			t.Errorf("%v is %v, want %v", c, got.Class, want)
		}
	}
}

func TestClassifyOfWhatIsNoStatus(t *testing.T) {
	for err, want := range map[error]backstay.Class{
		nil: backstay.Success, context.Canceled: backstay.Canceled, context.DeadlineExceeded: backstay.Fault, errors.New("x"): backstay.Fault,
	} {
		if got := grpcmw.Classify(err, nil); got.Class != want {
			t.Errorf("%v is %v, want %v", err, got.Class, want)
		}
	}
	if got := grpcmw.Classify(fmt.Errorf("wrapped: %w", down), nil); got.Class != backstay.Transient {
		t.Errorf("a wrapped status is %v", got.Class)
	}
}

func TestClassifyReadsTheTrailer(t *testing.T) {
	busy := status.Error(codes.ResourceExhausted, "busy")
	for _, c := range []struct {
		name    string
		err     error
		trailer metadata.MD
		want    backstay.Outcome
	}{
		{"nothing", down, nil, backstay.Outcome{Class: backstay.Transient}},
		{"a wait", down, metadata.Pairs("grpc-retry-pushback-ms", "20"), backstay.Outcome{
			Class: backstay.Transient, RetryAfter: 20 * time.Millisecond, Marks: backstay.Marks{Pushback: true}}},
		{"no", down, metadata.Pairs("grpc-retry-pushback-ms", "-1"), backstay.Outcome{Class: backstay.Transient, Marks: backstay.Marks{Final: true}}},
		{"never", down, metadata.Pairs("x-backstay-retry", "never"), backstay.Outcome{Class: backstay.Transient, Marks: backstay.Marks{Final: true}}},
		{"a mesh that did not pass it on", down, metadata.Pairs("l5d-retryable", "true"), backstay.Outcome{Class: backstay.Transient, Marks: backstay.Marks{Unsent: true}}},
		{"overload without a wait", busy, nil, backstay.Outcome{Class: backstay.Overload, Marks: backstay.Marks{Final: true}}},
		{"overload that may come back at once", busy, metadata.Pairs("grpc-retry-pushback-ms", "0"), backstay.Outcome{Class: backstay.Overload, Marks: backstay.Marks{Pushback: true}}},
	} {
		if got := grpcmw.Classify(c.err, c.trailer); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// A retry in the program's own code, above the client, sees the server's wait.
func TestTheErrorOfACallKnowsItsOutcome(t *testing.T) {
	virtual(t, func(t *testing.T) {
		_, err := call(t.Context(), connect(t, failing(9, down), only("test")), "x")
		if o := backstay.Classify(err); o.Class != backstay.Transient || o.Unsent {
			t.Errorf("got %+v", o)
		}
		_, err = call(t.Context(), connect(t, failing(9, status.Error(codes.Internal, "bug")), only("test")), "x")
		if o := backstay.Classify(err); o.Class != backstay.Fault {
			t.Errorf("got %+v", o)
		}
	})
}
