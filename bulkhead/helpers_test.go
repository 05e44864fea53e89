package bulkhead_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/internal/testkit"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// acquire gets a permit of weight 1 that must be there at once.
func acquire(t *testing.T, b *bulkhead.Bulkhead) *bulkhead.Permit {
	t.Helper()
	permit, ok := b.TryAcquire(t.Context(), 1)
	if !ok {
		t.Fatalf("no permit, with %d of %d in flight, %d queued", b.InFlight(), b.Limit(), b.Queued())
	}
	return &permit
}

// queued starts an Acquire that has to wait. The channel tells how it ended.
func queued(ctx context.Context, t *testing.T, b *bulkhead.Bulkhead, weight int64) <-chan ended {
	t.Helper()
	before := b.Queued()
	done := make(chan ended, 1)
	go func() {
		began := time.Now()
		permit, err := b.Acquire(ctx, weight)
		done <- ended{&permit, err, time.Since(began)}
	}()
	synctest.Wait()
	if got := b.Queued(); got != before+1 && len(done) == 0 {
		t.Fatalf("%d queued, want %d", got, before+1)
	}
	return done
}

type ended struct {
	permit *bulkhead.Permit
	err    error
	after  time.Duration
}

// wantIdle fails t unless nothing is left behind: all permits are back, nobody
// waits, and the whole limit can be had.
func wantIdle(t *testing.T, b *bulkhead.Bulkhead) {
	t.Helper()
	if b.InFlight() != 0 || b.Queued() != 0 {
		t.Errorf("%d in flight, %d queued, want nothing left behind", b.InFlight(), b.Queued())
	}
	permit, ok := b.TryAcquire(bulkhead.WithPriority(t.Context(), bulkhead.Critical), b.Limit())
	if !ok {
		t.Errorf("the whole limit of %d cannot be had any more", b.Limit())
	}
	permit.Release(backstay.Outcome{})
}

func wantFull(t *testing.T, err error) *bulkhead.FullError {
	t.Helper()
	full, ok := errors.AsType[*bulkhead.FullError](err)
	if !ok {
		t.Fatalf("got %v, want a FullError", err)
	}
	return full
}

// events is an Observer that remembers.
type events struct{ testkit.Recorder }

// answer is a result that is used up later, like a response with a body.
type answer struct{ done context.CancelFunc }

// exchange is a protocol whose answers are used up later.
type exchange struct {
	backstay.Exchange[struct{}, *answer]
	outcome backstay.Outcome
}

func (x exchange) Classify(*answer, error) backstay.Outcome { return x.outcome }

func (exchange) Bind(a *answer, c backstay.Canceler) *answer {
	a.done = c.Cancel
	return a
}
