package fallback

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay"
)

// errNotCached is how a cached rung fails that has nothing for a call.
var errNotCached = errors.New("nothing is cached")

// Cache describes a rung that answers with the last good value of the same
// key, as long as it is not older than [CacheConfig.MaxAge]; the report tells
// its age. The values are those that [Run] saw succeed.
//
// It is for answers that cannot be kept as they are, such as an HTTP response
// with its body: S is the copy that is kept in their place. For all else there
// is the shorter [For.Cached].
//
// When a stale value is served, one refresh of its key is begun in the
// background, if there is a Refresh, if the exchange allows the request to be
// repeated, and within the bounds of [CacheConfig]. Nobody waits for it but
// [Ladder.Close].
//
// The functions may be called from several goroutines at once. Their panics
// are told as events; the answer of a call is never lost by one.
type Cache[Q, R, S any] struct {
	// Key tells which calls share a value: it must name everything that the
	// answer depends on, the tenant or user included. "" keeps a call out.
	Key func(ctx context.Context, q Q) string
	// Save calls keep with a copy of r, or not at all if r is not to be kept,
	// and returns r or what stands in for it. keep may also be called later,
	// when the caller has read to the end of a body, from any goroutine; the
	// age counts from the moment Save was called.
	Save func(ctx context.Context, q Q, r R, keep func(S)) R
	// Load makes a new answer to q from a copy of that age.
	Load func(ctx context.Context, q Q, s S, age time.Duration) (R, error)
	// Refresh gets a new answer to a fork of q, under a context that has the
	// caller's values but not its cancellation, and ends after
	// [CacheConfig.RefreshTimeout] or when the ladder is closed. Where it
	// leads through the ladder itself, that stands aside. What it returns goes
	// through Save and is then discarded by the exchange, which drains a body.
	// nil means no refresh.
	Refresh backstay.Call[Q, R]

	// in and out are set where R itself is kept, so that the success path
	// needs no keep.
	in  func(R) S
	out func(S) R
}

// Rung returns the rung that c describes, named "cached".
func (c Cache[Q, R, S]) Rung() Rung[Q, R] {
	return Rung[Q, R]{
		Name:    "cached",
		trusted: true,
		check:   c.faults,
		cache: func(by owner) memory[Q, R] {
			return &lastGood[Q, R, S]{Cache: c, owner: by, shelf: newShelf[S](by.config.MaxEntries)}
		},
	}
}

func (c Cache[Q, R, S]) faults(path string) (all []error) {
	need := func(set bool, name string) {
		if !set {
			all = append(all, fault(path+"."+name, nil, "must be set"))
		}
	}
	need(c.Key != nil, "key")
	if c.in == nil {
		need(c.Save != nil, "save")
		need(c.Load != nil, "load")
	}
	return all
}

// memory is a cached rung at work, whatever the type of its copies.
type memory[Q, R any] interface {
	// remember keeps the good answer r and returns what stands in for it.
	remember(ctx context.Context, q Q, r R) R
	// recall answers by what was kept, and tells its age.
	recall(ctx context.Context, x backstay.Exchange[Q, R], q Q) (R, time.Duration, error)
}

// owner is what a cached rung gets from its ladder.
type owner struct {
	config  CacheConfig
	scope   *backstay.Scope
	flights *flights
}

// lastGood is the memory of one ladder.
type lastGood[Q, R, S any] struct {
	Cache[Q, R, S]
	owner
	shelf *shelf[S]
}

func (m *lastGood[Q, R, S]) remember(ctx context.Context, q Q, r R) (kept R) {
	defer m.guard(ctx, "saving an answer")
	kept = r // also where Key or Save panics
	if key := m.Key(ctx, q); key != "" {
		kept = m.save(ctx, key, q, r)
	}
	return kept
}

func (m *lastGood[Q, R, S]) save(ctx context.Context, key string, q Q, r R) R {
	now := backstay.Now()
	if m.in != nil {
		m.shelf.put(key, m.in(r), now)
		return r
	}
	return m.Save(ctx, q, r, func(s S) { m.shelf.put(key, s, now) })
}

func (m *lastGood[Q, R, S]) recall(ctx context.Context, x backstay.Exchange[Q, R], q Q) (r R, age time.Duration, err error) {
	key := m.Key(ctx, q)
	now := backstay.Now()
	s, at, ok := m.shelf.get(key)
	if !ok {
		return r, 0, errNotCached
	}
	if age = now.Sub(at); age > m.config.MaxAge {
		m.shelf.drop(key, at)
		return r, 0, fmt.Errorf("the cached value is too old: %v, at most %v", age, m.config.MaxAge)
	}
	if m.out != nil {
		r = m.out(s)
	} else if r, err = m.Load(ctx, q, s, age); err != nil {
		return r, 0, err
	}
	m.refresh(ctx, x, key, q, now)
	return r, age, nil
}

// guard recovers a panic of a user's function and tells it. To be deferred.
func (m *lastGood[Q, R, S]) guard(ctx context.Context, what string) {
	if v := recover(); v != nil {
		m.scope.Emit(ctx, backstay.Event{Kind: backstay.CallbackPanicked, Err: panicError(what, v)})
	}
}
