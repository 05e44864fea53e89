package grpcmw_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/middleware"
)

func TestAnRPCIsServedByTheServerInForce(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := &echo{}
		e.say = func(_ context.Context, req *text) (*text, error) { time.Sleep(5 * time.Second); return req, nil }
		s := server(t, middleware.Server{Name: "echo"})
		cc := behind(t, e, s)
		if _, err := call(t.Context(), cc, "x"); err != nil {
			t.Error(err)
		}
		if err := s.Apply(middleware.Server{Name: "echo", Timeout: 2 * time.Second, Bulkhead: &bulkhead.Config{Limit: 1}}); err != nil {
			t.Fatal(err)
		}
		_, err := call(t.Context(), cc, "x")
		code(t, err, codes.DeadlineExceeded)
		_, err = call(t.Context(), cc, "x")
		code(t, err, codes.Unavailable)
		if err := s.Apply(middleware.Server{Name: "another"}); err == nil {
			t.Error("it changes its name")
		}
		if err := s.Close(t.Context()); err != nil || s.Bulkhead().InFlight() != 0 {
			t.Errorf("closed: %v, %d in flight", err, s.Bulkhead().InFlight())
		}
	})
}
