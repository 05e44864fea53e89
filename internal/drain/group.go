// Package drain counts work that may outlive the call that started it, so that
// somebody can refuse more of it and wait for the rest.
package drain

import (
	"context"
	"sync"
)

// Group counts pieces of work. The zero value is open and empty. Its methods
// may be called from several goroutines.
type Group struct {
	mu     sync.Mutex
	n      int
	closed bool
	idle   chan struct{} // made by a Close that has to wait; closed at zero
}

// Add counts one more piece, unless the group is closed; then it reports false.
// Every Add that reports true is followed by one Done.
func (g *Group) Add() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.n++
	return true
}

// Done ends one piece.
func (g *Group) Done() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n--
	if g.n == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// Closed reports whether Close was called.
func (g *Group) Closed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// Close refuses further work and returns when what was counted has ended, or
// with the error of ctx if that ends first. It may be called again.
func (g *Group) Close(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	if g.n == 0 {
		g.mu.Unlock()
		return nil
	}
	if g.idle == nil {
		g.idle = make(chan struct{})
	}
	idle := g.idle
	g.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
