package runtime

import (
	"sync"
	"sync/atomic"
)

// event is something that an incarnation's loop must know of. It runs on the
// loop.
type event interface{ happen(inc *incarnation) }

// inbox is the one way to a loop. Nobody who posts waits for anything, so it
// may be done from any goroutine, the loop's own included.
type inbox struct {
	mu       sync.Mutex
	events   []event
	spare    []event // the last batch, to be filled again
	readable atomic.Bool
	asleep   bool
	closed   bool
	signal   chan struct{} // holds one
}

// post adds an event. What is posted to a loop that has ended is dropped: who
// waits for it also watches incarnation.gone.
func (b *inbox) post(e event) {
	b.mu.Lock()
	if !b.closed {
		b.events = append(b.events, e)
	}
	b.rouse()
}

// wake says that the reader may have something new.
func (b *inbox) wake() {
	b.readable.Store(true)
	b.mu.Lock()
	b.rouse()
}

// rouse unlocks, and wakes the loop if it sleeps.
func (b *inbox) rouse() {
	asleep := b.asleep
	b.asleep = false
	b.mu.Unlock()
	if asleep {
		b.signal <- struct{}{} // asleep was true, so there is room
	}
}

// mayRead reports whether the reader may have something new, and forgets it.
func (b *inbox) mayRead() bool {
	return b.readable.Load() && b.readable.Swap(false)
}

// take returns what was posted, good until the next take.
func (b *inbox) take() []event {
	b.mu.Lock()
	batch := b.events
	b.events, b.spare = b.spare[:0], batch
	b.mu.Unlock()
	return batch
}

// lie reports whether there is nothing to do; then the next post signals.
func (b *inbox) lie() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asleep = len(b.events) == 0 && !b.readable.Load()
	return b.asleep
}

// rise says that the loop is awake though nobody signalled. A signal that was
// under way is taken.
func (b *inbox) rise() {
	b.mu.Lock()
	signalled := !b.asleep
	b.asleep = false
	b.mu.Unlock()
	if signalled {
		<-b.signal
	}
}

// close drops what comes from now on.
func (b *inbox) close() {
	b.mu.Lock()
	b.closed, b.events = true, nil
	b.mu.Unlock()
}
