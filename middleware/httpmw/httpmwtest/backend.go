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
	next  int // the step to do
	done  int // how often it was done
	loop  bool
	seen  []Request
}

// Request is one request that the backend saw.
type Request struct {
	*http.Request
	// At is when it arrived.
	At time.Time
	// Content is what was read of its body; empty where [Serve] answered it.
	Content string
}

// Script returns a Backend that does the steps in order, one a request, and
// the last for every further request. Without steps it answers 200.
func Script(steps ...Step) *Backend { return &Backend{steps: steps} }

// Loop returns a Backend that begins again after the last step.
func Loop(steps ...Step) *Backend { return &Backend{steps: steps, loop: true} }

// RoundTrip does the next step.
func (b *Backend) RoundTrip(req *http.Request) (*http.Response, error) {
	s, n := b.take(req)
	return s.do(req, func(content string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.seen[n].Content = content
	})
}

// take returns the step of the next request, and the number of that.
func (b *Backend) take(req *http.Request) (Step, int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen = append(b.seen, Request{Request: req, At: time.Now()})
	n := len(b.seen) - 1
	if len(b.steps) == 0 {
		return Status(http.StatusOK), n
	}
	s := b.steps[b.next]
	if b.done++; b.done >= s.times {
		b.advance()
	}
	return s, n
}

// advance goes on to the next step. The caller holds mu.
func (b *Backend) advance() {
	switch {
	case b.next < len(b.steps)-1:
		b.next++
	case b.loop:
		b.next = 0
	}
	b.done = 0
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

// Headers returns what each request had in the header: its first value, "" if
// it had none.
func (b *Backend) Headers(name string) []string {
	var values []string
	for _, req := range b.Requests() {
		values = append(values, req.Header.Get(name))
	}
	return values
}

// Contents returns what was read of the body of each request.
func (b *Backend) Contents() []string {
	var contents []string
	for _, req := range b.Requests() {
		contents = append(contents, req.Content)
	}
	return contents
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
