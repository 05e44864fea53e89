package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay/idempotency"
)

const (
	route    = "/charge"
	customer = "alice" // whom an authentication in front would name
)

// bank charges cards, each key once. Requests without a key are served too, at
// their own risk.
type bank struct {
	server *httptest.Server
	guard  *idempotency.Guard

	loseNext atomic.Bool // let the connection break before the next answer

	mu      sync.Mutex
	charges []string
	lost    []byte // the answer that was lost
}

func openBank() (*bank, error) {
	store, err := idempotency.NewMemory(idempotency.MemoryConfig{})
	if err != nil {
		return nil, err
	}
	guard, err := idempotency.NewGuard(idempotency.GuardConfig{}, store)
	if err != nil {
		return nil, err
	}
	b := &bank{guard: guard}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+route, b.serveCharge)
	b.server = httptest.NewServer(mux)
	return b, nil
}

func (b *bank) close() { b.server.Close() }

func (b *bank) serveCharge(w http.ResponseWriter, req *http.Request) {
	a, replayed, err := b.once(req)
	if err != nil {
		refuse(w, err)
		return
	}
	if b.loseNext.CompareAndSwap(true, false) {
		b.lose(a.Data)
	}
	w.Header().Set("Content-Type", "application/json")
	if replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(a.Data) // a client that is gone will come back for it
}

// lose breaks the connection: the card is charged, and nobody is told.
func (b *bank) lose(data []byte) {
	b.mu.Lock()
	b.lost = data
	b.mu.Unlock()
	panic(http.ErrAbortHandler)
}

func (b *bank) lostAnswer() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lost
}

// charge does the work. Without the guard in front of it, it does it each time.
func (b *bank) charge(ctx context.Context, body []byte) (idempotency.Answer, error) {
	var order struct{ Amount int }
	if err := json.Unmarshal(body, &order); err != nil {
		return idempotency.Answer{}, fmt.Errorf("%w: %w", errBadOrder, err)
	}
	select {
	case <-time.After(50 * time.Millisecond): // long enough for a second click
	case <-ctx.Done():
		return idempotency.Answer{}, ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	id := fmt.Sprintf("charge-%d", len(b.charges)+1)
	b.charges = append(b.charges, fmt.Sprintf("%s of %d EUR", id, order.Amount))
	receipt, err := json.Marshal(map[string]any{"id": id, "amount": order.Amount, "at": time.Now()})
	return idempotency.Answer{Data: receipt}, err
}

var errBadOrder = errors.New("bank: the order cannot be read")
