package testkit

import (
	"sync/atomic"

	"github.com/backstay-go/backstay"
)

// Reply is an answer of a [Fake] exchange: it counts what becomes of it.
type Reply struct {
	Name      string
	Outcome   backstay.Outcome // what the Fake judges it to be
	Bound     atomic.Int32
	Discarded atomic.Int32

	cancel atomic.Pointer[backstay.Canceler]
}

// Close ends the life of a bound reply, as reading a body to its end does.
func (r *Reply) Close() {
	if f := r.cancel.Swap(nil); f != nil {
		(*f).Cancel()
	}
}

// Fake is an Exchange over strings and replies, for tests of policies.
type Fake struct {
	// Refuse is what Repeat returns.
	Refuse error
	// Forks counts the forks.
	Forks atomic.Int32
}

// Repeat returns f.Refuse.
func (f *Fake) Repeat(string, backstay.Outcome) error { return f.Refuse }

// Fork returns q and counts.
func (f *Fake) Fork(q string, _ int) (string, error) {
	f.Forks.Add(1)
	return q, nil
}

// Classify judges errors as [backstay.Classify] does and replies as they say.
func (f *Fake) Classify(r *Reply, err error) backstay.Outcome {
	if err != nil || r == nil {
		return backstay.Classify(err)
	}
	return r.Outcome
}

// Bind keeps c until the reply is closed.
func (f *Fake) Bind(r *Reply, c backstay.Canceler) *Reply {
	r.Bound.Add(1)
	r.cancel.Store(&c)
	return r
}

// Discard counts.
func (f *Fake) Discard(r *Reply) {
	if r != nil {
		r.Discarded.Add(1)
	}
}
