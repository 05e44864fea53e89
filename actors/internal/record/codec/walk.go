package codec

import (
	"math"
	"sync"
)

// walkers are those not in use: one escapes to the heap with every message it
// is shown to.
var walkers = sync.Pool{New: func() any { return new(Walker) }}

func walker() *Walker {
	w, _ := walkers.Get().(*Walker)
	return w
}

func (w *Walker) release() {
	*w = Walker{}
	walkers.Put(w)
}

// Writer begins an encoding behind out. Show the fields of one message to the
// Walker, in order, then take what it has [Walker.Written].
func Writer(out []byte) *Walker {
	w := walker()
	w.out = out
	return w
}

// Written ends an encoding. The Walker must not be used after it.
func (w *Walker) Written() []byte {
	w.place(math.MaxUint64)
	out := w.out
	w.release()
	return out
}

// Reader begins to decode in, which is one message. Show the fields to the
// Walker, in order, and ask it for the error with [Walker.Done].
func Reader(in []byte) *Walker {
	w := walker()
	w.reading, w.in, w.end = true, in, len(in)
	w.peek()
	return w
}

// Done ends a decoding, and returns what was wrong, an [*Error]. The Walker
// must not be used after it.
func (w *Walker) Done() error {
	w.rest()
	err := w.err
	w.release()
	return err
}

// Then ends the decoding of a message, and begins that of in. It returns what was
// wrong; then the Walker must not be used after it.
func (w *Walker) Then(in []byte) error {
	w.rest()
	if err := w.err; err != nil {
		w.release()
		return err
	}
	w.in, w.at, w.frame = in, 0, frame{end: len(in)}
	w.peek()
	return nil
}

// Part writes or reads what f shows as field n, a message that is absent if
// all its fields are: it is [Walker.Message] for half of a value.
func (w *Walker) Part(n uint64, f func(*Walker)) { w.Message(n, part(f)) }

type part func(*Walker)

// Fields describes the half.
func (p part) Fields(w *Walker) { p(w) }
