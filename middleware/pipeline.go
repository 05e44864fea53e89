package middleware

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/retry"
)

// Pipeline is what protects the calls to one target: one instance of a
// configured set of policies. It is safe for concurrent use; a nil *Pipeline
// passes calls through. Make one with [New], or one a key with [NewRegistry].
type Pipeline struct {
	*plan
	scope    backstay.Scope
	retry    *retry.Policy
	hedge    *hedge.Policy
	breaker  *breaker.Breaker
	bulkhead *bulkhead.Bulkhead
	shut     atomic.Bool
}

// New returns a single Pipeline for t, or every fault of its configuration.
func New(t Target, options ...Option) (*Pipeline, error) {
	pl, err := newPlan(t, options)
	if err != nil {
		return nil, err
	}
	return pl.pipeline(""), nil
}

// pipeline returns a fresh instance of the plan for key.
func (pl *plan) pipeline(key string) *Pipeline {
	p := &Pipeline{
		plan:  pl,
		scope: backstay.Scope{Policy: pl.name, Key: key, Observer: pl.observer},
	}
	p.retry = pl.prototype.retry.Clone(&p.scope)
	p.breaker = pl.prototype.breaker.Clone(&p.scope)
	p.bulkhead = pl.prototype.bulkhead.Clone(&p.scope)
	p.hedge = pl.prototype.hedge.Clone(&p.scope, p.hedgeOptions()...)
	return p
}

// hedgeOptions ties hedging to its siblings: a copy also spends from the retry
// budget, and none is sent while the target is known to be in trouble.
func (p *Pipeline) hedgeOptions() []hedge.Option {
	if p.prototype.hedge == nil {
		return nil
	}
	options := []hedge.Option{hedge.WithGate(p.healthy)}
	if b := p.retry.Budget(); b != nil {
		options = append(options, hedge.WithBudget(b))
	}
	return options
}

// healthy reports whether extra load is harmless: the breaker is closed and
// the bulkhead has room.
func (p *Pipeline) healthy() bool { return !p.breaker.Busy() && !p.bulkhead.Saturated() }

// Breaker returns the pipeline's breaker, for manual control; nil if it has none.
func (p *Pipeline) Breaker() *breaker.Breaker { return p.breaker }

// Bulkhead returns the pipeline's bulkhead; nil if it has none.
func (p *Pipeline) Bulkhead() *bulkhead.Bulkhead { return p.bulkhead }

// Concurrent reports whether the pipeline hedges or abandons attempts, which
// [Do] does not.
func (p *Pipeline) Concurrent() bool { return p != nil && (p.hedge != nil || p.timeout.Abandons()) }

// Close refuses further calls and waits for what the pipeline still owns, late
// copies and abandoned attempts, or until ctx ends. Calls that are under way
// on their callers' goroutines go on.
func (p *Pipeline) Close(ctx context.Context) error {
	if p == nil {
		return nil
	}
	p.shut.Store(true)
	return errors.Join(p.hedge.Close(ctx), p.timeout.Close(ctx))
}

// refuses reports whether the pipeline, or its registry, was closed.
func (p *Pipeline) refuses() bool { return p.shut.Load() || p.closed.Load() }

// busy reports whether the pipeline must not be given up: it is in use, or
// knows something of the target's trouble.
func (p *Pipeline) busy() bool {
	return p.breaker.Busy() || p.bulkhead.InFlight() > 0 || p.bulkhead.Queued() > 0
}
