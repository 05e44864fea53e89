package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"
)

// services are the two backends, and the switches of their misbehaviour.
type services struct {
	payments, menu *service
}

func startServices() *services {
	return &services{payments: start("paid"), menu: start("soup, fish, cake")}
}

func (s *services) close() {
	s.payments.server.Close()
	s.menu.server.Close()
}

// service is a small HTTP server that misbehaves on demand.
type service struct {
	server   *httptest.Server
	answer   string
	requests atomic.Int64
	mood     atomic.Pointer[mood]
}

// mood says what the service does with its n-th request since the mood began:
// a delay, and the status to answer with.
type mood func(n int64, req *http.Request) (time.Duration, int)

func start(answer string) *service {
	s := &service{answer: answer}
	s.be(well)
	s.server = httptest.NewServer(s)
	return s
}

func well(int64, *http.Request) (time.Duration, int) { return 0, http.StatusOK }

func down(int64, *http.Request) (time.Duration, int) { return 0, http.StatusServiceUnavailable }

// be changes the mood and counts anew.
func (s *service) be(m mood) {
	s.requests.Store(0)
	s.mood.Store(&m)
}

func (s *service) url() string { return s.server.URL }

// seen returns how many requests arrived since the mood began.
func (s *service) seen() int64 { return s.requests.Load() }

func (s *service) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	m := *s.mood.Load()
	delay, status := m(s.requests.Add(1), req)
	select {
	case <-time.After(delay):
	case <-req.Context().Done(): // nobody waits any more
		return
	}
	w.WriteHeader(status)
	fmt.Fprintln(w, s.answer)
}
