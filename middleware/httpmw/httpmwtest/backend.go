package httpmwtest

import (
	"net/http"
	"sync"
	"time"
)

// Backend is a scripted http.RoundTripper. It is safe for concurrent use.
type Backend struct {
	mu    sync.Mutex
	steps []Step
	next  int
	loop  bool
	seen  []Request
}

// Request is one request that the backend saw.
type Request struct {
	*http.Request
	// At is when it arrived.
	At time.Time
}

// Script returns a Backend that does the steps in order, one a request, and
// the last for every further request.
func Script(steps ...Step) *Backend { return &Backend{steps: steps} }

// Loop returns a Backend that begins again after the last step.
func Loop(steps ...Step) *Backend { return &Backend{steps: steps, loop: true} }

// RoundTrip does the next step.
func (b *Backend) RoundTrip(req *http.Request) (*http.Response, error) {
	return b.take(req).do(req)
}

func (b *Backend) take(req *http.Request) Step {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen = append(b.seen, Request{Request: req, At: time.Now()})
	if len(b.steps) == 0 {
		return Status(http.StatusOK)
	}
	s := b.steps[b.next]
	switch {
	case b.next < len(b.steps)-1:
		b.next++
	case b.loop:
		b.next = 0
	}
	return s
}

// Requests returns what the backend has seen so far, in order of arrival.
func (b *Backend) Requests() []Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Request(nil), b.seen...)
}

// Waits returns the times between the arrivals of the requests.
func (b *Backend) Waits() []time.Duration {
	seen := b.Requests()
	var waits []time.Duration
	for i := 1; i < len(seen); i++ {
		waits = append(waits, seen[i].At.Sub(seen[i-1].At))
	}
	return waits
}

// Want fails the test unless the backend has seen n requests.
func (b *Backend) Want(t TB, n int) {
	t.Helper()
	if got := len(b.Requests()); got != n {
		t.Errorf("the backend saw %d requests, want %d", got, n)
	}
}

// TB is the part of testing.TB that the package needs.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}
