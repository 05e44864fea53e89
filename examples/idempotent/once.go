package main

import (
	"net/http"

	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// customer is whom an authentication in front would name.
const customer = "alice"

// once puts what does keyed work once in front of a handler. This is all of the
// server's side: where the keys are kept, and whose they are.
func once(next http.Handler) (http.Handler, error) {
	store, err := idempotency.NewMemory(idempotency.MemoryConfig{})
	if err != nil {
		return nil, err
	}
	return httpmw.NewHandler(next,
		middleware.Server{Name: "bank", Idempotency: &idempotency.GuardConfig{}},
		httpmw.ServerStore(store),
		httpmw.ServerTenant(func(*http.Request) string { return customer }))
}
