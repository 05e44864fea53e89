package grpcmw_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/grpcmw"
)

func TestAUnaryHandlerThatIgnoresItsTimeoutIsAnsweredFor(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var seen log
		e := &echo{}
		e.say = func(_ context.Context, req *text) (*text, error) { time.Sleep(5 * time.Second); return req, nil }
		e.list = func(_ *text, ss grpc.ServerStream) error { time.Sleep(5 * time.Second); return ss.Context().Err() }
		s := server(t, middleware.Server{Timeout: 2 * time.Second, Bulkhead: &bulkhead.Config{Limit: 1}}, grpcmw.ServerObserver(&seen))
		cc := behind(t, e, s)
		began := time.Now()
		_, err := call(t.Context(), cc, "x")
		code(t, err, codes.DeadlineExceeded)
		if took := time.Since(began); took != 2*time.Second || s.Bulkhead().InFlight() != 1 {
			t.Errorf("took %v, %d in flight", took, s.Bulkhead().InFlight())
		}
		if err := s.Close(t.Context()); err != nil || s.Bulkhead().InFlight() != 0 {
			t.Errorf("closed: %v, %d in flight", err, s.Bulkhead().InFlight())
		}
		cs, err := open(t.Context(), cc, "x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := receive(cs); err != nil {
			t.Errorf("a stream is cut: %v", err)
		}
	})
}
