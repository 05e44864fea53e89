package breaker

import (
	"context"
	"errors"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/keyed"
)

// The defaults of a [RegistryConfig].
const (
	DefaultMaxKeys   = keyed.DefaultMaxKeys
	DefaultIdleAfter = keyed.DefaultIdleAfter
)

// RegistryConfig bounds a [Registry]. The zero value is the default.
type RegistryConfig struct {
	// MaxKeys is how many breakers there are at most; busy ones may exceed
	// it. 0 means [DefaultMaxKeys].
	MaxKeys int `json:"max_keys,omitempty" yaml:"max_keys,omitempty"`
	// IdleAfter is when a breaker that nobody used is given up. 0 means
	// [DefaultIdleAfter].
	IdleAfter time.Duration `json:"idle_after,omitempty" yaml:"idle_after,omitempty"`
}

// Validate returns every fault at once, each a [backstay.FieldError].
func (c RegistryConfig) Validate() error { return keyed.Config(c).Validate() }

// Registry keeps one breaker per key: a host, a host and a route template, a
// gRPC method. All share one configuration. It is safe for concurrent use,
// has no goroutine and nothing to close. A nil *Registry has no breakers: its
// Get returns nil, which lets every call pass.
//
// Idle breakers are given up, and at the bound those least recently used; one
// that is [Breaker.Busy] never is. Keys must come from a bounded set, such as
// hosts, never from raw paths.
type Registry struct {
	model    *Breaker // what the others are clones of; makes no calls
	breakers *keyed.Map[*Breaker]
}

// NewRegistry makes an empty registry. Of the scope that [WithScope] gives, the
// policy name and the observer are those of every breaker; the key is its own.
// The error joins all faults of both configurations.
func NewRegistry(c Config, bounds RegistryConfig, options ...Option) (*Registry, error) {
	model, err := New(c, options...)
	if err := errors.Join(err, backstay.Under("breaker.registry", bounds.Validate())); err != nil {
		return nil, err
	}
	r := &Registry{model: model}
	r.breakers = keyed.New(keyed.Config(bounds), r.make, keyed.Hooks[*Breaker]{
		Busy:    (*Breaker).Busy,
		Evicted: func(_ string, b *Breaker) { b.evicted() },
	})
	return r, nil
}

func (r *Registry) make(key string) *Breaker {
	scope := &backstay.Scope{Key: key}
	if s := r.model.scope; s != nil {
		scope.Policy, scope.Observer = s.Policy, s.Observer
	}
	return r.model.Clone(scope)
}

func (b *Breaker) evicted() {
	b.scope.Emit(context.Background(), backstay.Event{Kind: backstay.PipelineEvicted})
}

// Get returns the breaker of key, and makes it if there is none. Ask for it
// anew for every call rather than keeping it: that is what tells that it is in
// use.
func (r *Registry) Get(key string) *Breaker {
	if r == nil {
		return nil
	}
	return r.breakers.Get(key, backstay.Now())
}

// All calls yield for every breaker, in no order, until it returns false. It
// has the shape of an iterator: for key, b := range registry.All. Breakers that
// come or go meanwhile may be left out. yield may use the registry.
func (r *Registry) All(yield func(key string, b *Breaker) bool) {
	if r != nil {
		r.breakers.Range(yield)
	}
}

// Len returns the number of breakers.
func (r *Registry) Len() int {
	if r == nil {
		return 0
	}
	return r.breakers.Len()
}
