package codec

import (
	"math"
	"sync"
)

// walkers are those not in use: one escapes to the heap with every message it
// is shown to.
var walkers = sync.Pool{New: func() any { return new(Walker) }}

// Borrow is one of them, to be given back with [Walker.Return].
func Borrow() *Walker {
	w, _ := walkers.Get().(*Walker)
	return w
}

// Return gives a borrowed Walker back. It must not be used after it.
func (w *Walker) Return() {
	*w = Walker{}
	walkers.Put(w)
}

// Writer begins an encoding behind out. Show the fields of one message to the
// Walker, in order, then take what it has [Walker.Written].
func Writer(out []byte) *Walker {
	w := Borrow()
	w.out = out
	return w
}

// Written ends an encoding. The Walker must not be used after it.
func (w *Walker) Written() []byte {
	w.place(math.MaxUint64)
	out := w.out
	w.Return()
	return out
}

// Read begins to decode in, which is one message. Show the fields to the
// Walker, in order, and ask it for the error with [Walker.End]. It may read
// another message after that.
func (w *Walker) Read(in []byte) {
	w.reading, w.in, w.at, w.err, w.depth, w.frame = true, in, 0, nil, 0, frame{end: len(in)}
	w.peek()
}

// End ends a decoding, and returns what was wrong, an [*Error].
func (w *Walker) End() error {
	w.rest()
	return w.err
}

// Part writes or reads what f shows as field n, a message that is absent if
// all its fields are: it is [Walker.Message] for half of a value.
func (w *Walker) Part(n uint64, f func(*Walker)) { w.Message(n, part(f)) }

type part func(*Walker)

// Fields describes the half.
func (p part) Fields(w *Walker) { p(w) }
