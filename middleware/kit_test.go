package middleware_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
)

const ms = time.Millisecond

var errDown = errors.New("down")

// made returns a Pipeline of the target, which the end of the test closes.
func made(t *testing.T, target middleware.Target, options ...middleware.Option) *middleware.Pipeline {
	t.Helper()
	p, err := middleware.New(target, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// only returns the target "test" with the policies of c.
func only(c middleware.Config) middleware.Target { return middleware.Target{Name: "test", Config: c} }

func registry(t *testing.T, target middleware.Target, options ...middleware.Option) *middleware.Registry {
	t.Helper()
	r, err := middleware.NewRegistry(target, options...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// journal is an observer that remembers.
type journal struct {
	mu     sync.Mutex
	events []backstay.Event
}

func (j *journal) Observe(_ context.Context, e backstay.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, e)
}

// of returns the events of the given kinds, in order; all without a kind.
func (j *journal) of(kinds ...backstay.Kind) []backstay.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	var found []backstay.Event
	for _, e := range j.events {
		for _, k := range kinds {
			if e.Kind == k {
				found = append(found, e)
			}
		}
	}
	return found
}

// counts tells how often each kind was seen.
func (j *journal) counts() map[backstay.Kind]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := make(map[backstay.Kind]int)
	for _, e := range j.events {
		n[e.Kind]++
	}
	return n
}

// sleep waits for d, or until ctx ends, and returns what a backend would.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answers returns a function that does the steps in order, one a call, and the
// last for every further one.
func answers(steps ...func(context.Context) (int, error)) func(context.Context) (int, error) {
	var mu sync.Mutex
	next := 0
	return func(ctx context.Context) (int, error) {
		mu.Lock()
		step := steps[next]
		next = min(next+1, len(steps)-1)
		mu.Unlock()
		return step(ctx)
	}
}

func fails(context.Context) (int, error)    { return 0, errDown }
func succeeds(context.Context) (int, error) { return 7, nil }

// slow answers after d unless its context ends first.
func slow(d time.Duration) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) { return 7, sleep(ctx, d) }
}

// deaf answers after d, whatever its context says.
func deaf(d time.Duration) func(context.Context) (int, error) {
	return func(context.Context) (int, error) {
		time.Sleep(d)
		return 7, nil
	}
}

// refused fails the test unless err is a refusal that matches target, too.
func refused(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) || !errors.Is(err, backstay.ErrRejected) {
		t.Errorf("got %v, want a refusal that matches %q", err, target)
	}
}
