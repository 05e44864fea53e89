package main

import (
	"context"
	"net/http"
	"time"

	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// wire gives a service what it calls the next one with, and how it begins to
// work on a request.
type wire func(s *service, network *http.Transport) error

// asUsual is a client with a timeout that somebody thought generous, and work
// that nobody can call off. (Handlers that pass on the context of their request
// do better: they learn when the caller hangs up, unless a proxy or a queue is
// in between. They still do not know beforehand.)
func asUsual(s *service, network *http.Transport) error {
	s.client = &http.Client{Transport: network, Timeout: 2 * time.Second}
	s.begin = func(*http.Request) (context.Context, context.CancelFunc, error) {
		return context.Background(), func() {}, nil
	}
	return nil
}

// withDeadlines is all that it takes: a target whose hosts are told, and an
// Extract in front of the handler.
func withDeadlines(s *service, network *http.Transport) error {
	transport, err := httpmw.NewTransport(network, middleware.Internal(s.name))
	if err != nil {
		return err
	}
	incoming, err := deadline.NewIncoming(deadline.IncomingConfig{Minimum: s.needs}, nil)
	if err != nil {
		return err
	}
	s.client = &http.Client{Transport: transport}
	s.begin = func(req *http.Request) (context.Context, context.CancelFunc, error) {
		return deadline.Extract(req.Context(), req.Header, incoming, 0)
	}
	return nil
}
