package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"
)

// payments charges cards. It does not look whether an order was charged before:
// that each is charged once is the work of the keys in front of it.
type payments struct {
	ledger  *ledger
	loses   atomic.Bool // two answers of three, once the work is done
	answers atomic.Int64
}

// charge is what is asked of payments.
type charge struct {
	Order string `json:"order"`
	Cents int    `json:"cents"`
}

// routes are the requests that payments answers.
func (p *payments) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /charges", p.take)
	return mux
}

func (p *payments) take(w http.ResponseWriter, req *http.Request) {
	var c charge
	if err := json.NewDecoder(req.Body).Decode(&c); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	time.Sleep(3 * time.Millisecond) // talking to the bank
	p.ledger.charge(c.Order)
	w.WriteHeader(http.StatusCreated)
}

// losing stands outside of everything, where cables are: the work behind it is
// done, and its answer does not arrive.
func (p *payments) losing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !p.loses.Load() || p.answers.Add(1)%3 == 0 {
			next.ServeHTTP(w, req)
			return
		}
		next.ServeHTTP(httptest.NewRecorder(), req)
		panic(http.ErrAbortHandler)
	})
}
