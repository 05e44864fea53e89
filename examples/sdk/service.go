package main

import (
	"net/http"
	"sync/atomic"

	"github.com/backstay-go/backstay/examples/sdk/bucket"
)

// service is where the SDK's requests arrive.
type service struct {
	requests  atomic.Int64
	down      atomic.Bool
	throttles atomic.Int64 // how many requests are still to be throttled
}

func (s *service) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.requests.Add(1)
	switch {
	case s.down.Load():
		w.WriteHeader(http.StatusServiceUnavailable)
	case s.throttles.Add(-1) >= 0:
		w.Header().Set("X-Bucket-Error", bucket.Throttled)
		w.WriteHeader(http.StatusBadRequest)
	default:
		_, _ = w.Write([]byte("what was stored"))
	}
}
