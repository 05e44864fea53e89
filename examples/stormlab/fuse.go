package main

import (
	"time"

	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/internal/window"
)

// fuse is a breaker in virtual time. Whether it opens is the decision of the
// real one, over the real window; what it adds is the clock: how long it stays
// open, and one probe at a time. A test holds it against the real one in a
// bubble. A nil fuse lets everything pass.
type fuse struct {
	engine  *engine
	breaker *breaker.Breaker
	config  breaker.Config // with nothing left to defaults
	seen    *window.Last
	phase   int // counts the changes of state: what began in an earlier one says nothing
	opening int // since it was last closed; 0 while it is
	until   time.Duration
	probing bool
}

// fuseConfig is the default of a breaker, said in full.
var fuseConfig = breaker.Config{
	Window: breaker.DefaultWindow, FailureRatio: breaker.DefaultFailureRatio, MinCalls: breaker.DefaultMinCalls,
	OpenFor: breaker.DefaultOpenFor, MaxOpenFor: breaker.DefaultMaxOpenFor, Probes: 1,
}

func newFuse(e *engine, c breaker.Config) (*fuse, error) {
	b, err := breaker.New(c)
	return &fuse{engine: e, breaker: b, config: c, seen: window.NewLast(c.Window)}, err
}

// admits reports whether a call may pass now.
func (f *fuse) admits() bool {
	return f == nil || f.opening == 0 || f.engine.now >= f.until && !f.probing
}

// enter lets a call pass, and returns what its end is to be told to.
func (f *fuse) enter() (ended func(failed bool)) {
	if f == nil {
		return func(bool) {}
	}
	f.probing = f.opening > 0
	began := f.phase
	return func(failed bool) {
		if f.phase == began {
			f.count(failed)
		}
	}
}

// count takes in how a call of this phase ended.
func (f *fuse) count(failed bool) {
	switch {
	case f.opening > 0 && failed:
		f.open()
	case f.opening > 0:
		f.phase, f.opening, f.probing, f.seen = f.phase+1, 0, false, window.NewLast(f.config.Window)
	default:
		f.seen.Add(failed, false)
		if trips, _ := f.breaker.Trip(breaker.Counts(f.seen.Counts())); trips && failed {
			f.open()
		}
	}
}

// open begins the next opening, twice as long as the one before.
func (f *fuse) open() {
	f.phase++
	f.opening++
	f.probing = false
	d := f.config.OpenFor
	for n := 1; n < f.opening && d < f.config.MaxOpenFor; n++ {
		d *= 2
	}
	f.until = f.engine.now + min(d, f.config.MaxOpenFor)
}
