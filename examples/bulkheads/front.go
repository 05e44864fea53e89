package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

const (
	room  = 16 // how many requests the front service can have at once
	quick = 2 * time.Millisecond
	slow  = 400 * time.Millisecond
)

// front is the service in front of the two others.
type front struct {
	server  *httptest.Server
	room    chan struct{}
	network *http.Transport
	behind  []*httptest.Server
}

// newFront puts each of the two services behind policies of its own.
func newFront(config middleware.Config, prices, reviews http.Handler) (*front, error) {
	f := &front{room: make(chan struct{}, room), network: &http.Transport{MaxIdleConnsPerHost: room}}
	mux := http.NewServeMux()
	for name, handler := range map[string]http.Handler{"prices": prices, "reviews": reviews} {
		transport, err := httpmw.NewTransport(f.network, middleware.Target{Name: name, Config: config})
		if err != nil {
			f.close()
			return nil, err
		}
		server := httptest.NewServer(handler)
		f.behind = append(f.behind, server)
		mux.Handle("GET /"+name, f.serve(&http.Client{Transport: transport}, server.URL))
	}
	f.server = httptest.NewServer(mux)
	return f, nil
}

func (f *front) close() {
	if f.server != nil {
		f.server.Close()
	}
	for _, server := range f.behind {
		server.Close()
	}
	f.network.CloseIdleConnections()
}

// serve answers with what the service at url says, as soon as there is room.
func (f *front) serve(client *http.Client, url string) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		select {
		case f.room <- struct{}{}:
			defer func() { <-f.room }()
		case <-req.Context().Done(): // the caller has given up outside
			return
		}
		out, err := http.NewRequestWithContext(req.Context(), http.MethodGet, url, nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		resp, err := client.Do(out)
		switch {
		case errors.Is(err, backstay.ErrRejected): // the bulkhead is full
			w.Header().Set("Retry-After", "1")
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body) // if the caller is gone, nobody is there to tell
	}
}

// taking is a service that takes so long for an answer.
func taking(d time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		select {
		case <-time.After(d):
			fmt.Fprintln(w, "here you are")
		case <-req.Context().Done():
		}
	}
}
