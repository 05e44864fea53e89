package main

import (
	"context"
	"net/http"
	"time"

	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// wire gives a service what it calls the next one with, and what stands in
// front of its own work.
type wire func(s *service, network *http.Transport) error

// asUsual is a client with a timeout that somebody thought generous, and work
// that nobody can call off. (Handlers that pass on the context of their request
// do better: they learn when the caller hangs up, unless a proxy or a queue is
// in between. They still do not know beforehand.)
func asUsual(s *service, network *http.Transport) error {
	s.client = &http.Client{Transport: network, Timeout: 2 * time.Second}
	s.front = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s.ServeHTTP(w, req.WithContext(context.Background()))
	})
	return nil
}

// withDeadlines is all that it takes: a target whose hosts are told, and a
// Handler that takes up what it is told.
func withDeadlines(s *service, network *http.Transport) error {
	transport, err := httpmw.NewTransport(network, middleware.Internal(s.name))
	if err != nil {
		return err
	}
	s.client = &http.Client{Transport: transport}
	front, err := httpmw.NewHandler(s, middleware.Server{
		Name:     s.name,
		Deadline: &deadline.IncomingConfig{Minimum: s.needs},
	}, httpmw.ServerObserver(s))
	s.front = front
	return err
}
