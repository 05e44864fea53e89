package middleware

import (
	"context"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/keyed"
)

// Registry has one [Pipeline] for each key of a target: for each host, say, so
// that one host in trouble does not cost the calls to another. The number of
// keys is bounded; the state of keys that have been idle for long, or longest,
// is given up, but never that of a key in use or with a breaker that is not
// closed. It is safe for concurrent use and owns no goroutine.
type Registry struct {
	house     *house
	pipelines *keyed.Map[*Pipeline]
}

// NewRegistry returns a Registry for t, or every fault of its configuration.
func NewRegistry(t Target, options ...Option) (*Registry, error) {
	h, err := newHouse(t, options)
	if err != nil {
		return nil, err
	}
	r := &Registry{house: h}
	r.pipelines = keyed.New(
		keyed.Config{MaxKeys: t.Keys.Max, IdleAfter: t.Keys.IdleAfter},
		h.pipeline,
		keyed.Hooks[*Pipeline]{Busy: (*Pipeline).busy, Evicted: evicted},
	)
	return r, nil
}

func evicted(_ string, p *Pipeline) {
	p.scope.Emit(context.Background(), backstay.Event{Kind: backstay.PipelineEvicted})
}

// Get returns the pipeline of key, which it makes if there is none. now is a
// reading of the clock, which the call can go on with; see [RunAt].
func (r *Registry) Get(key string, now backstay.Instant) *Pipeline {
	p := r.pipelines.Get(key, now)
	if p.now().number != r.house.plan.Load().number {
		r.catchUp(p)
	}
	return p
}

// catchUp renews a pipeline that was being made while another Target was put in
// force.
func (r *Registry) catchUp(p *Pipeline) {
	r.house.mu.Lock()
	defer r.house.mu.Unlock()
	p.renew()
}

// Idempotency returns the policy in force that makes idempotency keys; nil if
// the target has none. Protocols put the keys on the wire themselves.
func (r *Registry) Idempotency() *idempotency.Policy { return r.house.plan.Load().idempotency }

// Settings returns what the function of [WithSettings] made of the Target in
// force; nil without one.
func (r *Registry) Settings() any { return r.house.plan.Load().settings }

// Scope returns on whose behalf the registry acts, for policies beside its own.
func (r *Registry) Scope() *backstay.Scope {
	return &backstay.Scope{Policy: r.house.name, Observer: r.house.observer}
}

// Len returns how many keys have a pipeline.
func (r *Registry) Len() int { return r.pipelines.Len() }

// All calls f for the pipeline of every key, in no order, until f returns
// false. It has the shape of an iterator: for key, p := range registry.All.
func (r *Registry) All(f func(key string, p *Pipeline) bool) { r.pipelines.Range(f) }

// Close closes every pipeline, also those yet to be made: further calls are
// refused, and late copies and abandoned attempts are waited for, or until ctx
// ends; then the error matches the cause of its end. Calls that are under way
// on their callers' goroutines go on. Close may be called again.
func (r *Registry) Close(ctx context.Context) error { return r.house.close(ctx) }
