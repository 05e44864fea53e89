package adopting

import (
	"context"
	"net/http"

	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// served puts a mux behind what protects a server.
func served(mux *http.ServeMux, store idempotency.Store, w *watching) (http.Handler, error) {
	server := middleware.Server{
		Name:        "orders",
		Deadline:    &deadline.IncomingConfig{},
		Bulkhead:    &bulkhead.Config{Limit: 200},
		Idempotency: &idempotency.GuardConfig{},
	}
	return httpmw.NewHandler(mux, server, httpmw.ServerStore(store), httpmw.ServerObserver(w.observer))
}

// withKeys says of a service that it honours keys, so that also a POST may be
// sent again.
func withKeys(t middleware.Target) middleware.Target {
	t.Idempotency = &idempotency.Config{Generate: true}
	return t
}

// charging is the context of a call that is made on behalf of keyed work: its
// key follows from that of the work.
func charging(ctx context.Context) context.Context {
	return idempotency.WithKey(ctx, idempotency.Derive(idempotency.IncomingKey(ctx), "charge"))
}
