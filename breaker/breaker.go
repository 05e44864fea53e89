package breaker

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
)

// Breaker is one circuit breaker. It is safe for concurrent use. A nil *Breaker
// means "none": every call passes. It has no goroutine, no timer and nothing
// to close, and takes 48 bytes until it opens for the first time.
type Breaker struct {
	settings atomic.Pointer[settings] // replaced by Adopt only
	scope    *backstay.Scope
	phase    atomic.Pointer[phase]
	first    phase // spares most breakers an allocation; never used again
}

// Option sets a collaborator of a [Breaker] or of a [Registry].
type Option func(*Breaker)

// WithScope names the breaker and says who is told of its events.
func WithScope(s *backstay.Scope) Option {
	return func(b *Breaker) { b.scope = s }
}

// New makes a closed breaker. The error joins all faults of c, each a
// [backstay.FieldError] whose path begins with "breaker".
func New(c Config, options ...Option) (*Breaker, error) {
	if err := c.Validate(); err != nil {
		return nil, backstay.Under("breaker", err)
	}
	b := start(newSettings(c), nil)
	for _, set := range options {
		set(b)
	}
	return b, nil
}

// Clone makes a closed breaker of the same configuration, which both share, on
// behalf of another scope. Clone of nil is nil.
func (b *Breaker) Clone(scope *backstay.Scope) *Breaker {
	if b == nil {
		return nil
	}
	return start(b.settings.Load(), scope)
}

func start(s *settings, scope *backstay.Scope) *Breaker {
	b := &Breaker{scope: scope}
	b.settings.Store(s)
	b.first.prepare(s)
	b.phase.Store(&b.first)
	return b
}

// State tells what the breaker does with a call that comes now. An open breaker
// whose time is over is half-open, whether or not a probe has come.
func (b *Breaker) State() State {
	if b == nil {
		return Closed
	}
	p := b.phase.Load()
	if p.gate == nil {
		return Closed
	}
	return p.gate.state(backstay.Now())
}

// Counts tells what the window holds. It is empty unless the breaker is closed
// or MetricsOnly.
func (b *Breaker) Counts() Counts {
	if b == nil {
		return Counts{}
	}
	p := b.phase.Load()
	if p.gate != nil && p.gate.manual != MetricsOnly {
		return Counts{}
	}
	var now backstay.Instant
	if b.settings.Load().TimeWindow > 0 {
		now = backstay.Now()
	}
	return p.counts(b.settings.Load(), now)
}

// Busy reports whether the breaker holds what must not be forgotten: it is
// open, a probe is under way, or it was put into its state by hand. A registry
// never gives up a busy breaker. One whose opening is over and whom nobody
// calls is not busy: forgetting it costs no more than the probes would.
func (b *Breaker) Busy() bool {
	if b == nil {
		return false
	}
	g := b.phase.Load().gate
	return g != nil && g.busy(backstay.Now())
}

// changed tells the observer of a change of state. It must be called by the
// goroutine that made the change, outside every lock.
func (b *Breaker) changed(ctx context.Context, from, to State, why backstay.Reason, wait time.Duration) {
	if b.scope.Silent() {
		return
	}
	b.scope.Emit(ctx, backstay.Event{
		Kind: backstay.BreakerChanged, From: from.String(), To: to.String(), Reason: why, Wait: wait,
	})
}
