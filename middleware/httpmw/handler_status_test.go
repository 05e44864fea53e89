package httpmw_test

import (
	"net/http"
	"testing"

	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

func TestAHandlerTellsTheStateOfItsBulkhead(t *testing.T) {
	h := must(httpmw.NewHandler(http.NotFoundHandler(), middleware.Server{Name: "orders", Bulkhead: &bulkhead.Config{Limit: 3}}))
	if _, err := h.Bulkhead().Acquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	all := h.Statuses()
	if len(all) != 1 || all[0].Name != "orders" || *all[0].Bulkhead != (middleware.BulkheadStatus{Limit: 3, InFlight: 1}) {
		t.Errorf("got %+v", all)
	}
}
