package httpmw_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
)

// blank is a ResponseWriter that costs nothing.
type blank struct{ header http.Header }

func (b *blank) Header() http.Header         { return b.header }
func (b *blank) WriteHeader(int)             {}
func (b *blank) Write(p []byte) (int, error) { return len(p), nil }

// full is a server with all that is free of cost where it is not needed.
func full() middleware.Server {
	return middleware.Server{
		Name:     "test",
		Deadline: &deadline.IncomingConfig{Minimum: time.Millisecond},
		Bulkhead: &bulkhead.Config{},
	}
}

func TestAHandlerCostsFewAllocations(t *testing.T) {
	w := &blank{header: make(http.Header)}
	answers := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	for _, c := range []struct {
		name    string
		handler http.Handler
		method  string
		header  http.Header
		allocs  float64
	}{
		{"nothing is configured", handler(t, answers, middleware.Server{}), "GET", http.Header{}, 2},
		{"deadline and bulkhead", handler(t, answers, full()), "GET", http.Header{"X-Backstay-Timeout-Ms": {"1500"}}, 4},
		{"a retry", handler(t, answers, full()), "GET", http.Header{"X-Backstay-Attempt": {"2"}}, 5},
		{"the preset", handler(t, answers, middleware.StandardServer("test")), "GET", http.Header{}, 4},
		{"a request without a key", keyed(t, answers, full()), "POST", http.Header{}, 4},
		{"a handler that waits", handler(t, http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { req.Context().Done() }), full()), "GET", http.Header{}, 9},
		{"a read with one", keyed(t, answers, full()), "GET", http.Header{idempotency.DefaultHeader: {`"k"`}}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context()) // that of a server can end
			defer cancel()
			req := request(t, ctx, c.method, "http://x.test/", nil)
			req.Header = c.header
			testkit.Allocs(t, c.allocs, func() { c.handler.ServeHTTP(w, req) })
		})
	}
}

func BenchmarkHandler(b *testing.B) {
	h := handler(b, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), full())
	w := &blank{header: make(http.Header)}
	req, _ := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://x.test/", nil)
	req.Header.Set("X-Backstay-Timeout-Ms", "1500")
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, req)
	}
}
