package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"
)

// service is a small HTTP server that misbehaves on demand.
type service struct {
	server   *httptest.Server
	answer   string
	requests atomic.Int64
	mood     atomic.Pointer[mood]
}

// mood says what the service does with its n-th request since the mood began:
// how long it takes, and the status it answers with.
type mood func(n int64, req *http.Request) (time.Duration, int)

func start(answer string) *service {
	s := &service{answer: answer}
	s.be(well)
	s.server = httptest.NewServer(s)
	return s
}

// be changes the mood and counts anew.
func (s *service) be(m mood) {
	s.requests.Store(0)
	s.mood.Store(&m)
}

func well(int64, *http.Request) (time.Duration, int) { return 0, http.StatusOK }

func down(int64, *http.Request) (time.Duration, int) { return 0, http.StatusServiceUnavailable }

func (s *service) url() string { return s.server.URL }

// seen returns how many requests have arrived since the mood began.
func (s *service) seen() int64 { return s.requests.Load() }

func (s *service) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	takes, status := (*s.mood.Load())(s.requests.Add(1), req)
	select {
	case <-time.After(takes):
	case <-req.Context().Done(): // nobody waits any more
		return
	}
	if status != http.StatusOK {
		http.Error(w, http.StatusText(status), status)
		return
	}
	fmt.Fprintln(w, s.answer)
}
