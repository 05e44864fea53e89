package main

import (
	"context"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc/test/bufconn"
)

// memory is a network within this process, for tests in virtual time.
type memory struct {
	mu        sync.Mutex
	listeners map[string]*bufconn.Listener
}

func (m *memory) Listen(_ context.Context, name string) (net.Listener, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.listeners == nil {
		m.listeners = make(map[string]*bufconn.Listener)
	}
	m.listeners[name] = bufconn.Listen(64 << 10)
	return m.listeners[name], nil
}

func (m *memory) Dial(ctx context.Context, name string) (net.Conn, error) {
	m.mu.Lock()
	listener := m.listeners[name]
	m.mu.Unlock()
	if listener == nil {
		return nil, fmt.Errorf("nobody is called %s", name)
	}
	return listener.DialContext(ctx)
}
