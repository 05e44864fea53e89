package middleware

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// Pipeline is what protects the calls to one target: one instance of a
// configured set of policies. It is safe for concurrent use; a nil *Pipeline
// passes calls through. Make one with [New], or one a key with [NewRegistry].
type Pipeline struct {
	*plan
	scope    backstay.Scope
	retry    retry.Policy // by value, which saves memory; see [Pipeline.retries]
	breaker  *breaker.Breaker
	bulkhead *bulkhead.Bulkhead
	crew     *crew // nil where every call stays on its caller's goroutine
	shut     atomic.Bool
}

// crew are the policies that need goroutines. Either may be nil.
type crew struct {
	hedge   *hedge.Policy
	timeout *timeout.Policy
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
	if pl.prototype.retry != nil {
		p.retry = *pl.prototype.retry.Clone(&p.scope)
	}
	p.breaker = pl.prototype.breaker.Clone(&p.scope)
	p.bulkhead = pl.prototype.bulkhead.Clone(&p.scope)
	p.crew = p.newCrew()
	return p
}

// newCrew makes the policies that need goroutines, if there are any.
func (p *Pipeline) newCrew() *crew {
	model := &p.prototype
	if model.hedge == nil && !model.timeout.Abandons() {
		return nil
	}
	c := &crew{timeout: model.timeout.Clone(&p.scope)}
	if model.hedge != nil {
		c.hedge = model.hedge.Clone(&p.scope, p.hedgeOptions()...)
	}
	return c
}

// hedgeOptions ties hedging to its siblings: a copy also spends from the retry
// budget, and none is sent while the target is known to be in trouble.
func (p *Pipeline) hedgeOptions() []hedge.Option {
	options := []hedge.Option{hedge.WithGate(p.healthy)}
	if b := p.retries().Budget(); b != nil {
		options = append(options, hedge.WithBudget(b))
	}
	return options
}

// admits reports whether the breaker would let another attempt through.
func (p *Pipeline) admits() bool {
	s := p.breaker.State()
	return s != breaker.Open && s != breaker.ForcedOpen
}

// healthy reports whether extra load is harmless: the breaker is closed and
// the bulkhead has room.
func (p *Pipeline) healthy() bool {
	return p.breaker.State() == breaker.Closed && !p.bulkhead.Saturated()
}

// retries returns the retry policy; nil if there is none.
func (p *Pipeline) retries() *retry.Policy {
	if p.prototype.retry == nil {
		return nil
	}
	return &p.retry
}

// hedges returns the hedge policy; nil if there is none.
func (p *Pipeline) hedges() *hedge.Policy {
	if p.crew == nil {
		return nil
	}
	return p.crew.hedge
}

// timeouts returns the timeout policy; nil if there is none.
func (p *Pipeline) timeouts() *timeout.Policy {
	if p.crew == nil {
		return p.prototype.timeout
	}
	return p.crew.timeout
}

// Breaker returns the pipeline's breaker, for manual control; nil if it has none.
func (p *Pipeline) Breaker() *breaker.Breaker {
	if p == nil {
		return nil
	}
	return p.breaker
}

// Bulkhead returns the pipeline's bulkhead; nil if it has none.
func (p *Pipeline) Bulkhead() *bulkhead.Bulkhead {
	if p == nil {
		return nil
	}
	return p.bulkhead
}

// Concurrent reports whether the pipeline hedges or abandons attempts, which
// [Do] does not.
func (p *Pipeline) Concurrent() bool { return p != nil && p.crew != nil }

// Close refuses further calls and waits for what the pipeline still owns, late
// copies and abandoned attempts, or until ctx ends; then the error matches
// the cause of its end. Calls that are under way on their callers' goroutines
// go on. Close may be called again.
func (p *Pipeline) Close(ctx context.Context) error {
	if p == nil {
		return nil
	}
	p.shut.Store(true)
	if p.crew == nil {
		return nil
	}
	return closed(ctx, p.scope.Name(), p.crew.hedge, p.crew.timeout)
}

// closed closes the policies that need goroutines.
func closed(ctx context.Context, name string, h *hedge.Policy, t *timeout.Policy) error {
	err := errors.Join(h.Close(ctx), t.Close(ctx))
	if err == nil {
		return nil
	}
	return fmt.Errorf("middleware: %s closed while %d copies and %d attempts still run: %w",
		name, h.Late(), t.Late(), context.Cause(ctx))
}

// refuses reports whether the pipeline, or its registry, was closed.
func (p *Pipeline) refuses() bool { return p.shut.Load() || p.closed.Load() }

// busy reports whether the pipeline must not be given up: attempts are under
// way, or it knows something of the target's trouble.
func (p *Pipeline) busy() bool {
	return p.breaker.Busy() || p.bulkhead.InFlight() > 0 || p.bulkhead.Queued() > 0 || p.late() > 0
}

// late returns how much work runs on goroutines of the pipeline's own.
func (p *Pipeline) late() int {
	if p.crew == nil {
		return 0
	}
	return p.crew.hedge.Late() + p.crew.timeout.Late()
}
