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
//
// A loop is not a goroutine but a baton: whoever has it runs turns. The
// incarnation's own goroutine waits for it; others who have just made work, and
// would wait for it to be done, may take it from the table instead of waking
// somebody up.
type inbox struct {
	mu       sync.Mutex
	events   []event
	spare    []event // the last batch, to be filled again
	readable atomic.Bool
	rang     bool          // the timer has fired, and nobody has looked yet
	free     bool          // the baton lies on the table
	shared   bool          // others than the own goroutine may take it
	helpers  int           // so many will look when they have done what they are at
	closed   bool          // nothing is taken in any more
	signal   chan struct{} // holds one: hands the baton to the own goroutine
}

// post adds an event. What is posted to a loop that has ended is dropped: who
// waits for it also watches incarnation.gone.
func (b *inbox) post(e event) {
	b.mu.Lock()
	b.add(e)
	b.rouse()
}

func (b *inbox) add(e event) {
	if !b.closed {
		b.events = append(b.events, e)
	}
}

// wake says that the reader may have something new.
func (b *inbox) wake() {
	b.readable.Store(true)
	b.mu.Lock()
	b.rouse()
}

// rouse unlocks, and hands the baton to the loop's own goroutine if it lies
// about and no helper will look.
func (b *inbox) rouse() {
	call := b.free && b.helpers == 0
	if call {
		b.free = false
	}
	b.mu.Unlock()
	if call {
		b.handOver()
	}
}

// handOver gives the baton to the loop's own goroutine.
func (b *inbox) handOver() { b.signal <- struct{}{} } // there is one baton, so there is room

// give posts an event, and reports whether the poster has got the baton by it:
// then it must drive.
func (b *inbox) give(e event) bool {
	b.mu.Lock()
	b.add(e)
	if b.free && b.shared {
		b.free = false
		b.mu.Unlock()
		return true
	}
	b.rouse()
	return false
}

// hold announces help: until it comes, nobody is woken for what is posted. It
// reports false if help is not wanted.
func (b *inbox) hold() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shared {
		b.helpers++
	}
	return b.shared
}

// help ends a hold, and reports whether the helper has got the baton by it:
// then it must drive.
func (b *inbox) help() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.helpers--
	if !b.free || !b.busy() {
		return false
	}
	b.free = false
	return true
}

// busy reports whether there is something to do. mu is held.
func (b *inbox) busy() bool { return len(b.events) > 0 || b.rang || b.readable.Load() }

// mayRead reports whether the reader may have something new, and forgets it.
func (b *inbox) mayRead() bool {
	return b.readable.Load() && b.readable.Swap(false)
}

// take returns what was posted, good until the next take, and whether the timer
// has fired.
func (b *inbox) take() (batch []event, rang bool) {
	b.mu.Lock()
	batch, rang = b.events, b.rang
	b.events, b.spare, b.rang = b.spare[:0], batch, false
	b.mu.Unlock()
	return batch, rang
}

// lie puts the baton down, and reports false if there is something to do.
func (b *inbox) lie() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free = !b.busy()
	return b.free
}

// rise is told by the own goroutine that the timer has fired. It reports
// whether the baton lay about, and is taken; else whoever has it will see.
func (b *inbox) rise() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rang = true
	taken := b.free
	b.free = false
	return taken
}

// invite lets others take the baton from now on.
func (b *inbox) invite() {
	b.mu.Lock()
	b.shared = true
	b.mu.Unlock()
}

// close drops what comes from now on.
func (b *inbox) close() {
	b.mu.Lock()
	b.closed, b.shared, b.events = true, false, nil
	b.mu.Unlock()
}
