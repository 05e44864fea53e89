package middleware

import (
	"context"
	"sync/atomic"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
)

// Pipeline is what protects the calls to one target: one instance of a
// configured set of policies. It is safe for concurrent use; a nil *Pipeline
// passes calls through. Make one with [New], or one a key with [NewRegistry].
type Pipeline struct {
	scope   backstay.Scope
	current atomic.Pointer[version]
	first   version // spares most pipelines an allocation; never used again
}

// New returns a single Pipeline for t, or every fault of its configuration.
func New(t Target, options ...Option) (*Pipeline, error) {
	h, err := newHouse(t, options)
	if err != nil {
		return nil, err
	}
	h.alone = true
	return h.pipeline(""), nil
}

// pipeline returns a fresh pipeline for key.
func (h *house) pipeline(key string) *Pipeline {
	p := &Pipeline{scope: backstay.Scope{Policy: h.name, Key: key, Observer: h.observer}}
	p.first.furnish(p, h.plan.Load(), &version{plan: new(plan)})
	p.current.Store(&p.first)
	return p
}

// now returns the version in force.
func (p *Pipeline) now() *version { return p.current.Load() }

// healthy reports whether extra load is harmless: the breaker is closed and
// the bulkhead has room.
func (p *Pipeline) healthy() bool {
	v := p.now()
	return v.breaker.State() == breaker.Closed && !v.bulkhead.Saturated()
}

// budget is the pipeline as what hedged copies spend from: the retry budget in
// force.
type budget Pipeline

// TrySpend takes a token, if there is one or no budget.
func (b *budget) TrySpend() bool { return (*Pipeline)(b).now().retries().Budget().TrySpend() }

// Refund gives back a token for a copy that was not sent.
func (b *budget) Refund() { (*Pipeline)(b).now().retries().Budget().Refund() }

// Breaker returns the pipeline's breaker, for manual control; nil if it has
// none. A new configuration may bring another one.
func (p *Pipeline) Breaker() *breaker.Breaker {
	if p == nil {
		return nil
	}
	return p.now().breaker
}

// Bulkhead returns the pipeline's bulkhead; nil if it has none. A new
// configuration may bring another one.
func (p *Pipeline) Bulkhead() *bulkhead.Bulkhead {
	if p == nil {
		return nil
	}
	return p.now().bulkhead
}

// Concurrent reports whether the pipeline hedges or abandons attempts, which
// [Do] does not.
func (p *Pipeline) Concurrent() bool { return p != nil && p.now().crew != nil }

// Close refuses further calls and waits for what the pipeline still owns, late
// copies and abandoned attempts, or until ctx ends; then the error matches
// the cause of its end. Calls that are under way on their callers' goroutines
// go on. Close may be called again. What is left from configurations that are
// not in force any longer, the Close of a [Registry] waits for.
func (p *Pipeline) Close(ctx context.Context) error {
	if p == nil {
		return nil
	}
	h := p.now().house
	if h.alone {
		return h.close(ctx)
	}
	h.mu.Lock()
	v := *p.now()
	v.plan = v.closed()
	p.current.Store(&v)
	h.mu.Unlock()
	if v.crew == nil {
		return nil
	}
	return closed(ctx, p.scope.Name(), v.crew.hedge, v.crew.timeout)
}

// busy reports whether the pipeline must not be given up: attempts are under
// way, or it knows something of the target's trouble.
func (p *Pipeline) busy() bool {
	v := p.now()
	return v.breaker.Busy() || v.bulkhead.InFlight() > 0 || v.bulkhead.Queued() > 0 || v.late() > 0
}
