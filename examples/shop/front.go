package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// front is what customers talk to. It knows nothing of policies: these are
// under its clients, and around its handlers.
type front struct {
	inventory        grpc.ClientConnInterface
	payments, search *http.Client
}

// routes are the requests that the front answers.
func (f *front) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /search", f.find)
	mux.HandleFunc("GET /items/{item}", f.item)
	mux.HandleFunc("POST /orders", f.order)
	return mux
}

// priority says what is refused first where there is too much to do.
func priority(req *http.Request) bulkhead.Priority {
	if req.Method == http.MethodPost {
		return bulkhead.Critical // an order
	}
	return bulkhead.Sheddable // somebody looks around
}

// find asks the search, whose last good answer serves where there is no other.
func (f *front) find(w http.ResponseWriter, req *http.Request) {
	ask := "http://search.shop/find?q=" + url.QueryEscape(req.FormValue("q"))
	below, err := http.NewRequestWithContext(req.Context(), http.MethodGet, ask, nil) //nolint:gosec // the host is fixed
	if err != nil {
		httpmw.WriteError(w, err)
		return
	}
	resp, err := f.search.Do(below) //nolint:gosec // as above
	if err != nil {
		httpmw.WriteError(w, err)
		return
	}
	defer resp.Body.Close()
	if age := resp.Header.Get("Age"); age != "" {
		w.Header().Set("Age", age) // the answer is an old one, and says so
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}

// item asks the inventory.
func (f *front) item(w http.ResponseWriter, req *http.Request) {
	reply := new(text)
	err := f.inventory.Invoke(req.Context(), stockMethod, wrapperspb.String(req.PathValue("item")), reply)
	if err != nil {
		httpmw.WriteError(w, err)
		return
	}
	fmt.Fprintln(w, reply.GetValue())
}

// order has something reserved and charged. Each step has a key that follows
// from that of the order: however often the order is sent, the steps are asked
// for under the same keys, and done once.
func (f *front) order(w http.ResponseWriter, req *http.Request) {
	var c charge
	if err := json.NewDecoder(req.Body).Decode(&c); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, key := req.Context(), idempotency.IncomingKey(req.Context())
	err := f.inventory.Invoke(idempotency.WithKey(ctx, idempotency.Derive(key, "reserve")),
		reserveMethod, wrapperspb.String(c.Order), new(text))
	if err != nil {
		httpmw.WriteError(w, err)
		return
	}
	status, err := f.charge(idempotency.WithKey(ctx, idempotency.Derive(key, "charge")), c)
	switch {
	case err != nil:
		httpmw.WriteError(w, err)
	case status != http.StatusCreated:
		http.Error(w, "payments do not work", http.StatusBadGateway)
	default:
		w.WriteHeader(http.StatusCreated)
	}
}

// charge asks payments, and returns the status of the answer.
func (f *front) charge(ctx context.Context, c charge) (status int, err error) {
	body, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://payments.shop/charges", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	resp, err := f.payments.Do(req)
	if err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Body.Close()
}
