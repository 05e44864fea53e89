package grpcmw_test

import (
	"testing"

	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/grpcmw"
)

func TestAServerTellsTheStateOfItsBulkhead(t *testing.T) {
	s, err := grpcmw.NewServer(middleware.Server{Name: "orders", Bulkhead: &bulkhead.Config{Limit: 3}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Bulkhead().Acquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	all := s.Statuses()
	if len(all) != 1 || all[0].Name != "orders" || *all[0].Bulkhead != (middleware.BulkheadStatus{Limit: 3, InFlight: 1}) {
		t.Errorf("got %+v", all)
	}
}
