package membership

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Records are what the topic of beats is read by: those that are there already,
// the last [History] of them, and then all that come, until stop is called. hear
// is given each with its offset and the time of its append in milliseconds, by
// one goroutine at a time, perhaps also after stop; what data is in is used
// again. ctx bounds the beginning. What fails later is tried again by whoever
// reads.
type Records func(ctx context.Context, hear func(data []byte, offset, at int64)) (stop func(), err error)

// History is how many beats are read that are there already: those of ten
// seconds in a large group, of a minute in a small one.
const History = 1000

// reader takes in the beats of all members, and tells when they do not come.
type reader struct {
	// written is the offset after the last own beat that was acknowledged.
	written func() int64
	heard   func(b *beat, at int64)
	trouble trouble
	next    atomic.Int64 // what is below was heard
	deaf    atomic.Bool  // it has ended
}

// take hands a beat on. Whatever else is in the topic is passed over.
func (r *reader) take(data []byte, offset, at int64) {
	if r.deaf.Load() {
		return
	}
	r.next.Store(offset + 1)
	if b, err := decodeBeat(data); err == nil {
		r.heard(b, at)
	}
}

// stuckAfter is how long own beats may be acknowledged and not be read.
const stuckAfter = 2 * time.Second

// errStuck: the broker accepts beats, and does not give them back.
var errStuck = errors.New("membership: own beats are written and not read")

// watch tells whether own beats are read, until ctx ends.
func (r *reader) watch(ctx context.Context, stop func()) {
	defer stop()
	defer r.deaf.Store(true)
	look := time.NewTicker(stuckAfter)
	defer look.Stop()
	for before := int64(-1); ; {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		next := r.next.Load()
		switch {
		case next != before:
			r.trouble.note(nil)
		case r.written() > next:
			r.trouble.note(errStuck)
		}
		before = next
	}
}
