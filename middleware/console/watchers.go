package console

import (
	"context"
	"sync"
)

// watchers counts those who watch a stream of events. The streams run on the
// goroutines of their own requests: a console has none.
type watchers struct {
	limit   int
	closing chan struct{} // closed by close: everybody has to go

	mu     sync.Mutex
	n      int
	closed bool
	empty  chan struct{} // closed once closed and the last has gone
}

func newWatchers(limit int) watchers {
	return watchers{limit: limit, closing: make(chan struct{}), empty: make(chan struct{})}
}

// join lets another one in, if there is room.
func (w *watchers) join() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.n >= w.limit {
		return false
	}
	w.n++
	return true
}

// leave lets one go, and reports whether it was the last.
func (w *watchers) leave() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n--
	if w.closed && w.n == 0 {
		close(w.empty)
	}
	return w.n == 0
}

// gone reports whether nobody is let in any more.
func (w *watchers) gone() bool {
	select {
	case <-w.closing:
		return true
	default:
		return false
	}
}

// close sends everybody away and waits for them.
func (w *watchers) close(ctx context.Context) error {
	w.shut()
	select {
	case <-w.empty:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (w *watchers) shut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.closed = true
	close(w.closing)
	if w.n == 0 {
		close(w.empty)
	}
}
