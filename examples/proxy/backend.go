package main

import (
	"bufio"
	"crypto/sha1" //nolint:gosec // the handshake of WebSockets is made of it
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"
)

// backend answers quickly, until it is told not to.
type backend struct {
	server *httptest.Server
	name   string
	slow   atomic.Bool
	asked  atomic.Int64
}

func start(name string) *backend {
	b := &backend{name: name}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", b.hello)
	mux.HandleFunc("GET /events", b.events)
	mux.HandleFunc("GET /chat", b.chat)
	b.server = httptest.NewServer(mux)
	return b
}

func (b *backend) host() string { return strings.TrimPrefix(b.server.URL, "http://") }

func (b *backend) hello(w http.ResponseWriter, _ *http.Request) {
	b.asked.Add(1)
	if b.slow.Load() {
		time.Sleep(100 * time.Millisecond)
	}
	fmt.Fprint(w, b.name)
}

// events tells three things, a while apart.
func (b *backend) events(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for n := range 3 {
		fmt.Fprintf(w, "data: event %d\n\n", n+1)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-time.After(50 * time.Millisecond):
		case <-req.Context().Done():
			return
		}
	}
}

// chat is a WebSocket that says back what it is told. A proxy sees bytes; what
// frames they form is between the two ends.
func (b *backend) chat(w http.ResponseWriter, req *http.Request) {
	conn, both, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	fmt.Fprintf(both, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		accept(req.Header.Get("Sec-WebSocket-Key")))
	if both.Flush() == nil {
		_, _ = io.Copy(conn, bufio.NewReader(both))
	}
}

// accept is the answer to a WebSocket's key (RFC 6455).
func accept(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) //nolint:gosec // as above
	return base64.StdEncoding.EncodeToString(sum[:])
}
