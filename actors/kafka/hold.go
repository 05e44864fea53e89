package kafka

import (
	"runtime"
	"time"
)

// What this process appends to a log ends a fetch that waits for something to come
// there, and which then tells only what its readers have heard of (see audience).
// A chain of steps would pay for a fetch each, which takes a fourth of its time
// from brokers and processes that share processors. So as long as a single append is
// under way, the next fetch is held back, and for a moment after it and after what
// was fetched, since the next step may be about to be appended. Where more goes on
// at once fetches have more to tell, and are not held; nor are those that answers
// alone are waited for in.

// held is how long a fetch is held back at most.
const held = time.Millisecond

// hold waits until nothing more is to be expected than what a fetch would tell.
func (t *tail) hold() {
	if !t.expects() {
		return
	}
	late := time.NewTimer(held)
	defer late.Stop()
	for more := true; more && !t.missed.Load(); more = t.expects() {
		select {
		case <-t.stirred:
		case <-late.C:
			return
		}
	}
}

// Those who were given something to do get a moment to append: until they have,
// the tail lets others run, but not for long where many want to.
const (
	turns  = 20
	moment = 50 * time.Microsecond
)

// expects reports whether a single append is under way, or is in a moment.
func (t *tail) expects() bool {
	if !t.owning {
		return false
	}
	began := time.Now()
	for range turns {
		n := t.fetcher.appender.entries()
		if n > 0 || time.Since(began) > moment {
			return n == 1
		}
		runtime.Gosched()
	}
	return false
}

// stir tells the tails that a record has ended, and whether its readers know: if
// not, somebody else has appended before it, and it must be fetched.
func (f *fetcher) stir(known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.tails {
		if !known {
			t.missed.Store(true)
		}
		select {
		case t.stirred <- struct{}{}:
		default:
		}
	}
}
