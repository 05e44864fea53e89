package grpcmw_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
)

func TestARefusalTellsItsCallerNothingOfWhatIsBehindTheServer(t *testing.T) {
	store := errors.New("dial tcp 10.0.0.7:6379: connect: connection refused")
	full := &bulkhead.FullError{Name: "10.0.0.7", Limit: 2, InFlight: 2, Reason: "bulkhead_full"}
	for name, c := range map[string]struct {
		err    error
		code   codes.Code
		text   string
		reason string
	}{
		"no room":                {full, codes.Unavailable, "There is too much to do.", "BULKHEAD_FULL"},
		"no room, in words":      {fmt.Errorf("10.0.0.7: %w", full), codes.Unavailable, "There is too much to do.", "BULKHEAD_FULL"},
		"a breaker that is open": {&breaker.OpenError{Name: "10.0.0.7"}, codes.Unavailable, "It is not available.", "BREAKER_OPEN"},
		"no pipeline":            {&middleware.ClosedError{Name: "10.0.0.7"}, codes.Unavailable, "It is not available.", "CLOSED"},
		"no time":                {&deadline.TooLateError{Name: "10.0.0.7"}, codes.DeadlineExceeded, "There is not enough time left.", "TOO_LATE"},
		"no store": {&idempotency.Error{Err: idempotency.ErrStoreFailed, Cause: store}, codes.Unavailable,
			"Keys cannot be looked up at the moment: nothing was begun.", "STORE_FAILED"},
		"what the handler says itself": {status.Error(codes.Unavailable, "the till is closed"), codes.Unavailable, "the till is closed", ""},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				e := &echo{}
				e.say = func(context.Context, *text) (*text, error) { return nil, c.err }
				_, err := call(t.Context(), behind(t, e, server(t, middleware.Server{})), "x")
				s := status.Convert(err)
				var reason string
				for _, d := range s.Details() {
					if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == "backstay" {
						reason = info.GetReason()
					}
				}
				if s.Code() != c.code || s.Message() != c.text || reason != c.reason || strings.Contains(s.String(), "10.0.0.7") {
					t.Errorf("got %v, reason %q", s, reason)
				}
			})
		})
	}
}
