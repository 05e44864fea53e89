package httpmwtest

import (
	"context"
	"slices"
	"sync"

	"github.com/backstay-go/backstay"
)

// Recorder is an observer that remembers every event. The zero value is ready;
// it is safe for concurrent use.
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
	var found []backstay.Event
	for _, e := range r.events {
		if len(kinds) == 0 || slices.Contains(kinds, e.Kind) {
			found = append(found, e)
		}
	}
	return found
}

// Want fails the test unless n events of the kind were seen.
func (r *Recorder) Want(t TB, kind backstay.Kind, n int) {
	t.Helper()
	if got := len(r.Events(kind)); got != n {
		t.Errorf("%d events %q, want %d", got, kind, n)
	}
}
