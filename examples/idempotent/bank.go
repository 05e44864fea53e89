package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"
)

const route = "/charge"

// bank charges cards, each key once. Requests without a key are served too, at
// their own risk.
type bank struct {
	server *httptest.Server

	loseNext atomic.Bool // let the connection break before the next answer

	mu      sync.Mutex
	charges []string
	lost    []byte // the answer that was lost
}

func openBank() (*bank, error) {
	b := new(bank)
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+route, b.serveCharge)
	careful, err := once(mux)
	if err != nil {
		return nil, err
	}
	b.server = httptest.NewServer(b.unreliable(careful))
	return b, nil
}

func (b *bank) close() { b.server.Close() }

// serveCharge does the work. Without once in front of it, it does it each time.
func (b *bank) serveCharge(w http.ResponseWriter, req *http.Request) {
	var order struct{ Amount int }
	if err := json.NewDecoder(req.Body).Decode(&order); err != nil {
		http.Error(w, "the order cannot be read", http.StatusBadRequest)
		return
	}
	receipt, err := b.charge(req.Context(), order.Amount)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(receipt) // a client that is gone will come back for it
}

// unreliable is the network in front of the bank: it may break before an answer
// has arrived.
func (b *bank) unreliable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !b.loseNext.CompareAndSwap(true, false) {
			next.ServeHTTP(w, req)
			return
		}
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, req)
		b.mu.Lock()
		b.lost = answer.Body.Bytes()
		b.mu.Unlock()
		panic(http.ErrAbortHandler) // the card is charged, and nobody is told
	})
}

func (b *bank) lostAnswer() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lost
}

// charge charges the card.
func (b *bank) charge(ctx context.Context, amount int) (receipt []byte, err error) {
	select {
	case <-time.After(50 * time.Millisecond): // long enough for a second click
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	id := fmt.Sprintf("charge-%d", len(b.charges)+1)
	b.charges = append(b.charges, fmt.Sprintf("%s of %d EUR", id, amount))
	return json.Marshal(map[string]any{"id": id, "amount": amount, "at": time.Now()})
}
