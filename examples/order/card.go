package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// cardService charges cards, in a process that nobody kills. It does what it is
// asked, as often as it is asked; the Handler in front of it knows keys.
type cardService struct {
	server *httptest.Server
	asked  atomic.Int64 // how often it was asked to charge, whatever came of it

	mu      sync.Mutex
	total   int
	charges map[string]int // by order
}

// Cards whose number begins with declined have no money; those that begin with
// unknown do not exist.
const (
	declined = "4000-"
	unknown  = "0000-"
)

func openCardService() (*cardService, error) {
	s := &cardService{charges: make(map[string]int)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /cards/{card}", serveCard)
	mux.HandleFunc("POST /charges", s.serveCharge)
	answers, err := idempotency.NewMemory(idempotency.MemoryConfig{})
	if err != nil {
		return nil, err
	}
	server := middleware.StandardServer("cards")
	server.Idempotency = &idempotency.GuardConfig{Required: true}
	once, err := httpmw.NewHandler(mux, server, httpmw.ServerStore(answers))
	if err != nil {
		return nil, err
	}
	s.server = httptest.NewServer(s.unreliable(once))
	return s, nil
}

func (s *cardService) close() { s.server.Close() }

func serveCard(w http.ResponseWriter, req *http.Request) {
	if strings.HasPrefix(req.PathValue("card"), unknown) {
		http.NotFound(w, req)
	}
}

func (s *cardService) serveCharge(w http.ResponseWriter, req *http.Request) {
	var r Receipt
	if err := json.NewDecoder(req.Body).Decode(&r); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if strings.HasPrefix(r.Purchase.Card, declined) {
		http.Error(w, "declined", http.StatusPaymentRequired)
		return
	}
	n, err := s.charge(req.Context(), r.Order)
	if err != nil {
		httpmw.WriteError(w, err)
		return
	}
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, "charge-%d", n)
}

// charge takes its time, so that who asks can die meanwhile.
func (s *cardService) charge(ctx context.Context, order string) (n int, err error) {
	select {
	case <-time.After(20 * time.Millisecond):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total++
	s.charges[order]++
	return s.total, nil
}

// unreliable is the network in front of the charges: some requests find somebody
// who is too busy, some answers are lost, and once in a while one takes longer
// than a customer waits.
func (s *cardService) unreliable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodPost {
			next.ServeHTTP(w, req)
			return
		}
		switch n := s.asked.Add(1); {
		case n%20 == 9:
			time.Sleep(patience)
			next.ServeHTTP(w, req)
		case n%10 == 3:
			http.Error(w, "too busy", http.StatusServiceUnavailable)
		case n%10 == 6:
			next.ServeHTTP(httptest.NewRecorder(), req)
			panic(http.ErrAbortHandler) // the card is charged, and nobody is told
		default:
			next.ServeHTTP(w, req)
		}
	})
}

// charged returns how often each order was charged.
func (s *cardService) charged() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.charges)
}
