package middleware

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/backstay-go/backstay"
)

// Request is what tells which target a call belongs to. Fields that are not
// known, or do not apply, are empty.
type Request struct {
	// Host is the host that is called, with its port if the URL has one, or
	// the endpoint of a gRPC connection.
	Host string
	// Method is the HTTP method.
	Method string
	// Path is the path of the URL, without its query, or the template of the
	// route that it belongs to.
	Path string
	// GRPC is the full name of a gRPC method, /service/method.
	GRPC string
}

// Targets are a set of targets that may change while calls go on. Those of a
// file are policyfile.Policies and policyfile.Live. They are safe for
// concurrent use.
type Targets interface {
	// Match returns the target that q belongs to, nil if there is none. It is
	// not to be changed; a change of the set brings another one.
	Match(q Request) *Target
	// All calls f for every target, until f returns false.
	All(f func(*Target) bool)
}

// Unmatched is the name of the target of calls that belong to no other. It is
// [Standard].
const Unmatched = "unmatched"

// Routes has what a protocol builds for each target of a set, and keeps it up
// to date: where a target has changed, its pipelines take it with the next
// call; see [Registry.Apply]. It is for protocols, and safe for concurrent use.
type Routes[T interface{ Pipelines() *Registry }] struct {
	targets Targets
	build   func(Target) (T, error)
	other   *route[T]
	mu      sync.Mutex // held while a route is made or renewed
	byName  atomic.Pointer[map[string]*route[T]]
}

// route is what was built for one target.
type route[T any] struct {
	target atomic.Pointer[Target] // the one in force
	built  T
}

// NewRoutes builds for every target of the set, and for [Unmatched], or returns
// every fault.
func NewRoutes[T interface{ Pipelines() *Registry }](targets Targets, build func(Target) (T, error)) (*Routes[T], error) {
	r := &Routes[T]{targets: targets, build: build}
	all := make(map[string]*route[T])
	other := Standard(Unmatched)
	var faults, err error
	r.other, faults = r.open(&other)
	for t := range targets.All {
		all[t.Name], err = r.open(t)
		faults = errors.Join(faults, err)
	}
	if faults != nil {
		return nil, faults
	}
	r.byName.Store(&all)
	return r, nil
}

func (r *Routes[T]) open(t *Target) (*route[T], error) {
	built, err := r.build(*t)
	if err != nil {
		return nil, err
	}
	made := &route[T]{built: built}
	made.target.Store(t)
	return made, nil
}

// Find returns what was built for the target that q belongs to. The error,
// which matches [backstay.ErrRejected], says that a target that came later
// cannot be built.
func (r *Routes[T]) Find(q Request) (T, error) {
	t := r.targets.Match(q)
	if t == nil {
		return r.other.built, nil
	}
	if known := (*r.byName.Load())[t.Name]; known != nil && known.target.Load() == t {
		return known.built, nil
	}
	return r.renew(q)
}

// renew makes the route of q, or puts another version of its target in force.
// It looks for the target itself: what the caller has may be out of date.
func (r *Routes[T]) renew(q Request) (none T, err error) {
	r.mu.Lock()
	t := r.targets.Match(q)
	if t == nil {
		r.mu.Unlock()
		return r.other.built, nil
	}
	known := (*r.byName.Load())[t.Name]
	if known == nil {
		defer r.mu.Unlock()
		return r.add(t)
	}
	if known.target.Load() != t {
		err = known.built.Pipelines().Apply(*t)
		known.target.Store(t)
	}
	r.mu.Unlock()
	if err != nil {
		known.built.Pipelines().Scope().Emit(context.Background(), backstay.Event{Kind: PolicyNotApplied, Err: err})
	}
	return known.built, nil
}

// add makes a route for a target that came later. The caller holds the lock.
func (r *Routes[T]) add(t *Target) (none T, err error) {
	made, err := r.open(t)
	if err != nil {
		return none, fmt.Errorf("%w: %w", backstay.ErrRejected, err)
	}
	all := maps.Clone(*r.byName.Load())
	all[t.Name] = made
	r.byName.Store(&all)
	return made.built, nil
}

// All calls f with what was built for each target, in no order, until f
// returns false. Those of targets that are gone are among them.
func (r *Routes[T]) All(f func(name string, built T) bool) {
	if !f(Unmatched, r.other.built) {
		return
	}
	for name, known := range *r.byName.Load() {
		if !f(name, known.built) {
			return
		}
	}
}

// Registries calls f with the registry of each target, as All does.
func (r *Routes[T]) Registries(f func(name string, r *Registry) bool) {
	r.All(func(name string, built T) bool { return f(name, built.Pipelines()) })
}
