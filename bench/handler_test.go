package bench

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go"
	fsbulkhead "github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/failsafehttp"

	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// BenchmarkHandler compares what stands in front of a server's handler, over a
// ResponseWriter that does nothing. The yardstick is "context": what everybody
// writes who takes up a caller's deadline, without any check. Backstay refuses
// what is late, sheds, and marks retries beside. http.TimeoutHandler has no
// deadline of the caller's, and needs a goroutine; failsafe-go has a bulkhead
// alone here, since its timeout does not reach a handler's context.
func BenchmarkHandler(b *testing.B) {
	compare(b, "ignoring", succeeds, handlers(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))...)
	compare(b, "watched", succeeds, handlers(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = watching(r.Context())
	}))...)
}

func handlers(next http.Handler) []library {
	return []library{
		serves("bare", next),
		serves("backstay", must(httpmw.NewHandler(next, middleware.Server{
			Name: "bench", Deadline: &deadline.IncomingConfig{Cap: totalTimeout}, Bulkhead: &bulkhead.Config{Limit: limit},
		}))),
		serves("context", withDeadline(next)),
		serves("TimeoutHandler", http.TimeoutHandler(next, totalTimeout, "")),
		serves("failsafe-go", failsafehttp.NewHandlerWithExecutor(next, failsafe.With(fsbulkhead.New[*http.Response](limit)))),
	}
}

// withDeadline takes up the deadline of our header by the standard library.
func withDeadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ms, _ := strconv.Atoi(r.Header.Get("X-Backstay-Timeout-Ms"))
		ctx, cancel := context.WithDeadline(r.Context(), time.Now().Add(time.Duration(ms)*time.Millisecond))
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// serves hands one request to h again and again, under a context that can be
// canceled, as that of a server is.
func serves(name string, h http.Handler) library {
	var w noWriter
	header := http.Header{"X-Backstay-Timeout-Ms": {"60000"}}
	var req *http.Request
	return library{name: name, call: func(ctx context.Context) error {
		if req == nil {
			req = must(http.NewRequestWithContext(ctx, http.MethodGet, "http://x.test/", nil))
			req.Header = header
		}
		h.ServeHTTP(w, req)
		return nil
	}}
}

// noWriter writes nowhere.
type noWriter struct{}

func (noWriter) Header() http.Header         { return emptyHeader }
func (noWriter) WriteHeader(int)             {}
func (noWriter) Write(p []byte) (int, error) { return len(p), nil }
