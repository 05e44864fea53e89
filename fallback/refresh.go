package fallback

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/backstay-go/backstay"
)

// refresh begins to replace the stale value of key in the background, if that
// may and need be done.
func (m *lastGood[Q, R, S]) refresh(ctx context.Context, x backstay.Exchange[Q, R], key string, q Q, now backstay.Instant) {
	// Asked as if q had been sent: a write that happened not to be sent is
	// no more to be made behind its caller's back than any other.
	if m.Refresh == nil || x.Repeat(q, backstay.Outcome{Class: backstay.Transient}) != nil {
		return
	}
	release, ok := m.shelf.claim(key, now, m.config.RefreshEvery)
	if !ok {
		return
	}
	begun := false
	done := func() { release(backstay.Now()) }
	defer func() {
		if !begun {
			done()
		}
	}()
	// The caller may change q once it has its answer. Forked as a second
	// attempt, because an exchange may send the first one as it is.
	fork, err := x.Fork(q, 2)
	if err != nil {
		return
	}
	begun = m.flights.start(ctx, m.config.RefreshTimeout, key, func(ctx context.Context) {
		m.reload(ctx, x, key, fork)
	}, done)
}

// reload gets a new value. It runs on a goroutine of its own, where a panic
// would end the process.
func (m *lastGood[Q, R, S]) reload(ctx context.Context, x backstay.Exchange[Q, R], key string, q Q) {
	defer m.guard(ctx, "refreshing a cached value")
	r, err := m.Refresh(ctx, q)
	if err != nil {
		return
	}
	if x.Classify(r, nil).Class == backstay.Success {
		r = m.save(ctx, key, q, r)
	}
	x.Discard(r)
}

// flights are the refreshes that run for one ladder. The zero value, given a
// limit, is ready.
type flights struct {
	limit int
	group singleflight.Group

	mu      sync.Mutex
	running map[*context.CancelFunc]struct{}
	closed  bool
	gone    chan struct{} // made when closed is set; closed when the last flight has ended
}

// start runs work, and then done, on a goroutine of its own, unless the
// flights are closed or too many. Of two works with the same key at once only
// one is run: the claim on a key goes with its item on the shelf, and a new
// item may have taken its place.
func (f *flights) start(ctx context.Context, limit time.Duration, key string, work func(context.Context), done func()) bool {
	ctx, cancel := context.WithTimeout(f.detach(ctx), limit)
	if !f.begin(&cancel) {
		cancel()
		return false
	}
	go func() { // ended by its context; close waits for it
		defer f.end(&cancel)
		defer cancel()
		defer done()
		_, _, _ = f.group.Do(key, func() (any, error) {
			work(ctx)
			return nil, nil
		})
	}()
	return true
}

// inFlight is the key of a context under which a flight runs.
type inFlight struct{ of *flights }

// detach keeps the values of ctx but neither its cancellation nor its report,
// which belongs to the call that is answered already.
func (f *flights) detach(ctx context.Context) context.Context {
	ctx, _ = backstay.WithReport(context.WithoutCancel(ctx))
	return context.WithValue(ctx, inFlight{f}, true)
}

// carry reports whether ctx is that of a flight. A refresh that comes back to
// its own ladder must see the failure: the ladder's answer would be the stale
// value, kept once more as if it were new.
func (f *flights) carry(ctx context.Context) bool { return ctx.Value(inFlight{f}) != nil }

func (f *flights) begin(cancel *context.CancelFunc) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || len(f.running) >= f.limit {
		return false
	}
	if f.running == nil {
		f.running = make(map[*context.CancelFunc]struct{}, 1)
	}
	f.running[cancel] = struct{}{}
	return true
}

func (f *flights) end(cancel *context.CancelFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.running, cancel)
	f.settle()
}

// close cancels all flights and waits for them.
func (f *flights) close(ctx context.Context, name string) error {
	running, gone := f.shut()
	for _, cancel := range running {
		(*cancel)()
	}
	select {
	case <-gone:
		return nil
	default:
	}
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: closed with refreshes still running: %w", title(name), backstay.ContextError(ctx))
	}
}

// shut lets no flight begin any more. It returns the running ones, and a
// channel that is closed when they have ended.
func (f *flights) shut() ([]*context.CancelFunc, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.closed, f.gone = true, make(chan struct{})
		f.settle()
	}
	return slices.Collect(maps.Keys(f.running)), f.gone
}

// settle says that all flights are gone, once they are. f.mu is held.
func (f *flights) settle() {
	if f.closed && len(f.running) == 0 {
		close(f.gone)
	}
}
