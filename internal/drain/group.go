// Package drain counts work that may outlive the call that started it, so that
// somebody can refuse more of it and wait for the rest.
package drain

import (
	"context"
	"sync"

	"github.com/backstay-go/backstay"
)

// Group counts pieces of work. The zero value is open and empty. Its methods
// may be called from several goroutines.
type Group struct {
	parent *Group // counts the same work; nil: none

	mu     sync.Mutex
	n      int
	closed bool
	idle   chan struct{} // made by a Close that has to wait; closed at zero
}

// Under makes parent count the work of g, too: a closed parent refuses it, and
// waits for it. It must be called before g is used, and parents must not form
// a circle.
func (g *Group) Under(parent *Group) { g.parent = parent }

// Add counts one more piece, unless the group is closed; then it reports false.
// Every Add that reports true is followed by one Done.
func (g *Group) Add() bool {
	if g.parent != nil && !g.parent.Add() {
		return false
	}
	g.mu.Lock()
	open := !g.closed
	if open {
		g.n++
	}
	g.mu.Unlock()
	if !open && g.parent != nil {
		g.parent.Done()
	}
	return open
}

// Done ends one piece.
func (g *Group) Done() {
	g.mu.Lock()
	g.n--
	if g.n == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
	g.mu.Unlock()
	if g.parent != nil {
		g.parent.Done()
	}
}

// Len returns how many pieces there are.
func (g *Group) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.n
}

// Close refuses further work and returns when what was counted has ended, or
// with ctx's error and its cause if that comes first. It may be called again.
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
		return backstay.ContextError(ctx)
	}
}
