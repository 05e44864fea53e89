package httpmw_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
)

// answered asks h in this process.
func answered(t *testing.T, h http.Handler, key string) int {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, post(t, "http://stock.test/", key, ""))
	return w.Code
}

func TestARequestIsServedByTheServerInForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		h := keyed(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			ran++
			time.Sleep(3 * time.Second)
			w.WriteHeader(http.StatusCreated)
		}), middleware.Server{Name: "stock"})
		apply := func(s middleware.Server) {
			t.Helper()
			if err := h.Apply(s); err != nil {
				t.Fatal(err)
			}
		}
		answered(t, h, "k")
		if answered(t, h, "k"); ran != 1 {
			t.Errorf("keyed work is done %d times", ran)
		}
		apply(middleware.Server{Name: "stock"})
		if answered(t, h, "k"); ran != 2 {
			t.Errorf("keys still count: ran %d times", ran)
		}
		apply(middleware.Server{Name: "stock", Idempotency: &idempotency.GuardConfig{Required: true}})
		if got := answered(t, h, ""); got != http.StatusBadRequest {
			t.Errorf("without the key that is required now: %d", got)
		}
		if answered(t, h, "k"); ran != 2 {
			t.Error("the store has forgotten the key")
		}
		apply(limited())
		if got := answered(t, h, ""); got != http.StatusServiceUnavailable || h.Bulkhead().InFlight() != 1 {
			t.Errorf("the timeout is not in force: %d", got)
		}
		if h.Apply(middleware.Server{Name: "orders"}) == nil {
			t.Error("it changes its name")
		}
	})
}

func TestATimeoutThatComesWhileAHandlerRunsLeavesItAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan struct{})
		h := handler(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(begun)
			time.Sleep(time.Minute)
			w.WriteHeader(http.StatusCreated)
		}), middleware.Server{Name: "stock", Bulkhead: &bulkhead.Config{}})
		go func() {
			<-begun
			if err := h.Apply(limited()); err != nil {
				t.Error(err)
			}
		}()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request(t, context.Background(), http.MethodGet, "http://stock.test/", nil))
		if w.Code != http.StatusCreated {
			t.Errorf("it is answered for: %d", w.Code)
		}
	})
}

func TestAServerChangesWhileRequestsGoOn(t *testing.T) {
	h := handler(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
	}), middleware.Server{Name: "stock"})
	var done atomic.Bool
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for !done.Load() {
				if got := answered(t, h, ""); got != http.StatusCreated {
					t.Errorf("got %d", got)
				}
			}
		})
	}
	for i := range 100 {
		s := middleware.Server{Name: "stock", Bulkhead: &bulkhead.Config{Limit: int64(100 + i)}}
		if i%2 == 0 {
			s.Timeout = time.Hour
		}
		if err := h.Apply(s); err != nil {
			t.Error(err)
		}
	}
	done.Store(true)
	all.Wait()
	if n := h.Bulkhead().InFlight(); n != 0 || h.Bulkhead().Limit() != 199 {
		t.Errorf("%d in flight of %d", n, h.Bulkhead().Limit())
	}
}
