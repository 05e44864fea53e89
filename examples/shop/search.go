package main

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// search finds things. It is quick, but for every twentieth answer.
type search struct{ asked atomic.Int64 }

// routes are the requests that search answers.
func (s *search) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /find", s.find)
	return mux
}

func (s *search) find(w http.ResponseWriter, req *http.Request) {
	takes := 2 * time.Millisecond
	if s.asked.Add(1)%20 == 0 {
		takes = 100 * time.Millisecond
	}
	select {
	case <-time.After(takes):
	case <-req.Context().Done():
		return // nobody waits any longer
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "three kinds of %s\n", req.URL.Query().Get("q")) //nolint:gosec // plain text
}
