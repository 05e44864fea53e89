package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// wayBack is what an answer needs to reach the customer in time.
const wayBack = 10 * time.Millisecond

// newHandler serves POST /orders. Its requests must come with the context of a
// node; see http.Server.BaseContext.
func newHandler() (http.Handler, error) {
	answers, err := idempotency.NewMemory(idempotency.MemoryConfig{})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", serveOrder)
	server := middleware.StandardServer("orders")
	server.Idempotency = &idempotency.GuardConfig{
		Required: true,
		Grace:    idempotency.NoGrace, // an order goes on without its customer: that is what actors are for
	}
	return httpmw.NewHandler(mux, server, httpmw.ServerStore(answers), httpmw.ServerTenant(customerOf))
}

// customerOf is whom an authentication in front would name.
func customerOf(req *http.Request) string { return req.Header.Get("Customer") }

// serveOrder makes the request a call of the order's actor: its deadline is
// that of the context, its key is the call's.
func serveOrder(w http.ResponseWriter, req *http.Request) {
	var p Purchase
	if err := json.NewDecoder(req.Body).Decode(&p); err != nil {
		http.Error(w, "the order cannot be read", http.StatusBadRequest)
		return
	}
	p.Customer = customerOf(req)
	ctx, cancel := deadline.Reserve(req.Context(), wayBack)
	defer cancel()
	key := idempotency.IncomingKey(ctx)
	number := idempotency.Derive(key, p.Customer) // keys of two customers have nothing to do with each other
	r, err := Place.Call(ctx, Order.Ref(number), p, actors.IdempotencyKey(key))
	switch {
	case err != nil:
		writeError(w, err)
	case r.Purchase != p: // the guard in front would have said so, if it still knew
		http.Error(w, "the key belongs to another order", http.StatusUnprocessableEntity)
	case r.Status == Refused:
		write(w, http.StatusPaymentRequired, r)
	default:
		write(w, http.StatusCreated, r)
	}
}

// writeError answers with what a call has ended in. Those that say nothing of
// the order are for httpmw: no room, no answer in time, a customer who has left.
func writeError(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, ErrNothing):
		http.Error(w, ErrNothing.Error(), http.StatusUnprocessableEntity)
	case errors.Is(err, actors.ErrExpired):
		w.Header().Set("X-Backstay-Retry", "never") // this key has had its answer
		write(w, http.StatusGatewayTimeout, Receipt{Status: Expired})
	default:
		httpmw.WriteError(w, err)
	}
}

func write(w http.ResponseWriter, status int, r Receipt) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(r) // a customer who is gone will come back for it
}
