package bench

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkLoopback compares the whole stack over a real connection to a
// server on this machine: what a call costs where everything else is as fast
// as it can be.
func BenchmarkLoopback(b *testing.B) {
	answer := []byte("hello")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(answer)
	}))
	b.Cleanup(server.Close)
	libraries := make([]library, 0, len(transports()))
	for _, l := range transports() {
		connections := &http.Transport{MaxIdleConnsPerHost: limit}
		b.Cleanup(connections.CloseIdleConnections)
		libraries = append(libraries, library{
			name: l.name,
			call: getting(server.URL, l.wrap(connections)),
		})
	}
	compare(b, "timer", succeeds, libraries...)
	within(b, "bounded", succeeds, libraries...)
}
