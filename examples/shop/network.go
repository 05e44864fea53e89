package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// network is where the services listen, and find one another by their names.
type network interface {
	Listen(ctx context.Context, name string) (net.Listener, error)
	Dial(ctx context.Context, name string) (net.Conn, error)
}

// loopback is a network on this machine.
type loopback struct {
	mu        sync.Mutex
	addresses map[string]string
}

// Listen listens on a port that is free.
func (l *loopback) Listen(ctx context.Context, name string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.addresses == nil {
		l.addresses = make(map[string]string)
	}
	l.addresses[name] = listener.Addr().String()
	return listener, nil
}

// Dial connects with who listens under name.
func (l *loopback) Dial(ctx context.Context, name string) (net.Conn, error) {
	l.mu.Lock()
	address, ok := l.addresses[name]
	l.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("nobody is called %s", name)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}

// over returns a transport whose connections are those of n.
func over(n network) *http.Transport {
	return &http.Transport{
		MaxIdleConnsPerHost: 100,
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			name, _, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			return n.Dial(ctx, name)
		},
	}
}

// serve serves h under name, until the returned function is called.
func serve(ctx context.Context, n network, name string, h http.Handler) (stop func() error, err error) {
	listener, err := n.Listen(ctx, name)
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Second}
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(listener) })
	return func() error {
		defer running.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return server.Shutdown(ctx)
	}, nil
}
