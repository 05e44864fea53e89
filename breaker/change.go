package breaker

import (
	"context"
	"time"

	"github.com/backstay-go/backstay"
)

// record counts a call that began in phase p, and opens the breaker if that was
// one too many.
func (b *Breaker) record(ctx context.Context, p *phase, v verdict, now backstay.Instant) {
	if p.gate != nil && p.gate.manual == ForcedClosed {
		return
	}
	if v.bad() && b.phase.Load() != p {
		return // spares late results the making of an opening that comes to nothing
	}
	p.add(b.settings.Load(), v, now)
	if !v.bad() || p.gate != nil {
		return
	}
	if trips, why := b.settings.Load().trip(p.counts(b.settings.Load(), now)); trips {
		b.reopen(ctx, p, Closed, why, 1)
	}
}

// reopen replaces phase p by opening number n, unless p is over.
func (b *Breaker) reopen(ctx context.Context, p *phase, from State, why backstay.Reason, n int) {
	next := &phase{gate: newGate(b.settings.Load(), b.scope.Name(), n)}
	if b.phase.CompareAndSwap(p, next) {
		b.changed(ctx, from, Open, why, next.gate.wait)
	}
}

// closeAgain replaces phase p by a closed one, unless p is over.
func (b *Breaker) closeAgain(ctx context.Context, p *phase) {
	next := new(phase)
	next.prepare(b.settings.Load())
	if b.phase.CompareAndSwap(p, next) {
		b.changed(ctx, HalfOpen, Closed, ReasonProbesPassed, 0)
	}
}

// admit decides on a call that found the breaker not closed.
func (b *Breaker) admit(ctx context.Context, now backstay.Instant) (Pass, error) {
	for {
		p := b.phase.Load()
		g := p.gate
		if g == nil || g.passes() {
			return Pass{b: b, phase: p}, nil
		}
		if g.shut(now) {
			return Pass{}, b.reject(ctx, g, now)
		}
		g.mu.Lock()
		if b.phase.Load() != p {
			g.mu.Unlock()
			continue // the gate is gone
		}
		probe := g.admit(now, b.settings.Load().ProbeLease)
		g.mu.Unlock()
		if probe == nil {
			return Pass{}, b.reject(ctx, g, now)
		}
		return Pass{b: b, phase: p, probe: probe}, nil
	}
}

// reject makes the error of a call that is not admitted, and tells of it.
func (b *Breaker) reject(ctx context.Context, g *gate, now backstay.Instant) error {
	until := backstay.Instant(g.until.Load()) // before the state: if that is Open still, it is the opening's end
	state := g.state(now)
	var wait time.Duration
	if state == Open {
		wait = until.Sub(now)
	}
	e := &OpenError{Name: g.name, RetryAfter: wait, State: state}
	backstay.Note(ctx, noteRejected)
	if !b.scope.Silent() {
		b.scope.Emit(ctx, backstay.Event{
			Kind: backstay.CallRejected, Reason: backstay.ReasonBreakerOpen,
			Outcome: e.Outcome(), Err: e, Wait: wait,
		})
	}
	return e
}

func noteRejected(s *backstay.Summary) { s.Reason = backstay.ReasonBreakerOpen }

// settle ends a probe, and with it the half-open state if the machine says so.
// If that has ended already, the swap of phases fails and nothing happens.
func (b *Breaker) settle(ctx context.Context, pass Pass, v verdict) {
	p, g := pass.phase, pass.phase.gate
	g.mu.Lock()
	g.settle(pass.probe, v)
	closed, reopened := g.machine.closed(), g.machine.reopened()
	g.mu.Unlock()
	switch {
	case closed:
		b.closeAgain(ctx, p)
	case reopened:
		b.reopen(ctx, p, HalfOpen, ReasonProbeFailed, g.number+1)
	}
}
