package testkit

import (
	"context"
	"slices"
	"sync"

	"github.com/backstay-go/backstay"
)

// Recorder is an observer that remembers what it is told. The zero value is
// ready.
type Recorder struct {
	mu     sync.Mutex
	events []backstay.Event
}

// Observe remembers e.
func (r *Recorder) Observe(_ context.Context, e backstay.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// Events returns the events of the given kinds, in order; all without a kind.
func (r *Recorder) Events(kinds ...backstay.Kind) []backstay.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.events), func(e backstay.Event) bool {
		return len(kinds) > 0 && !slices.Contains(kinds, e.Kind)
	})
}

// Take returns all events and forgets them.
func (r *Recorder) Take() []backstay.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.events
	r.events = nil
	return all
}
