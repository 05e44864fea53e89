package breaker

import (
	"context"
	"time"

	"github.com/backstay-go/backstay"
)

// Pass is the permission for one call, from [Breaker.Allow]. The zero Pass is
// that of a nil Breaker.
type Pass struct {
	b     *Breaker
	phase *phase
	probe *probe // nil unless half-open
}

// Allow asks for one call, for those who cannot wrap it in a function. The
// error is an [*OpenError]. Whoever gets a Pass calls [Pass.Done] once, on
// every path; the place of a probe whose Done never comes is given to another
// call after [Config].ProbeLease.
//
// Allow reads the clock only where the breaker is not closed.
func (b *Breaker) Allow(ctx context.Context) (Pass, error) {
	if b == nil {
		return Pass{}, nil
	}
	p := b.phase.Load()
	if p.gate == nil {
		return Pass{b: b, phase: p}, nil
	}
	pass, err := b.admit(ctx, backstay.Now())
	if err == nil && pass.probe != nil {
		pass.announce(ctx)
	}
	return pass, err
}

// Done reports how the call ended, and how long the service took. An elapsed of
// 0 means that it was not measured: the call is not slow. A call that ended as
// Canceled because the deadline of ctx has passed counts as a failure if it
// ran for at least [Config].SlowAfter. Done of a probe that has lost its place,
// or that began before the breaker's last change of state, changes nothing.
func (p Pass) Done(ctx context.Context, o backstay.Outcome, elapsed time.Duration) {
	if p.b == nil {
		return
	}
	p.count(ctx, p.b.settings.Load().judge(ctx, o.Class, elapsed), p.clock())
}

// finish is Done for a call that began to be served at began (0: not timed)
// and has ended now.
func (p Pass) finish(ctx context.Context, class backstay.Class, began backstay.Instant) {
	s := p.b.settings.Load()
	if !s.timed && class == backstay.Success && p.phase.strip.Load() == s.healthy {
		return
	}
	p.measure(ctx, class, began)
}

// measure reads the clock if the call's end must be timed.
func (p Pass) measure(ctx context.Context, class backstay.Class, began backstay.Instant) {
	s := p.b.settings.Load()
	var now backstay.Instant
	var elapsed time.Duration
	if s.timed || class == backstay.Canceled {
		now = backstay.Now()
		if began != 0 {
			elapsed = now.Sub(began)
		}
		if class == backstay.Success && elapsed < s.SlowAfter && p.phase.strip.Load() == s.healthy {
			return
		}
	}
	p.count(ctx, s.judge(ctx, class, elapsed), now)
}

// broken counts a call that panicked or left its goroutine: as a failure.
func (p Pass) broken(ctx context.Context) {
	p.count(ctx, verdict{failed: true}, p.clock())
}

// clock reads the clock if the window needs it.
func (p Pass) clock() backstay.Instant {
	if p.b.settings.Load().TimeWindow > 0 {
		return backstay.Now()
	}
	return 0
}

func (p Pass) count(ctx context.Context, v verdict, now backstay.Instant) {
	switch {
	case p.probe != nil:
		p.b.settle(ctx, p, v)
	case !v.neutral:
		p.b.record(ctx, p.phase, v, now)
	}
}

// announce tells that the breaker is half-open, if this is its first probe. The
// place comes back if an observer leaves the goroutine.
func (p Pass) announce(ctx context.Context) {
	if !p.probe.first {
		return
	}
	told := false
	defer func() {
		if !told {
			p.count(ctx, verdict{neutral: true}, 0)
		}
	}()
	p.b.changed(ctx, Open, HalfOpen, ReasonProbing, 0)
	told = true
}
