package breaker

import (
	"context"

	"github.com/backstay-go/backstay"
)

// ForceOpen rejects every call until [Breaker.Reset].
func (b *Breaker) ForceOpen() { b.force(ForcedOpen) }

// ForceClosed admits every call and counts none until [Breaker.Reset].
func (b *Breaker) ForceClosed() { b.force(ForcedClosed) }

// MetricsOnly admits and counts every call, and never opens, until
// [Breaker.Reset]. Trip(Counts()) tells whether it would have opened.
func (b *Breaker) MetricsOnly() { b.force(MetricsOnly) }

// Reset goes back to automatic: closed, with an empty window and the first
// opening's duration. Calls under way no longer count.
func (b *Breaker) Reset() {
	if b == nil {
		return
	}
	next := new(phase)
	next.prepare(b.settings.Load())
	b.replace(next)
}

func (b *Breaker) force(s State) {
	if b == nil {
		return
	}
	if g := b.phase.Load().gate; g != nil && g.manual == s {
		return
	}
	next := &phase{gate: forcedGate(b.scope.Name(), s)}
	if s == MetricsOnly {
		next.prepare(b.settings.Load())
	}
	b.replace(next)
}

// replace begins the phase next whatever the state is, and tells if that was a
// change.
func (b *Breaker) replace(next *phase) {
	now := backstay.Now()
	old := b.phase.Swap(next)
	if from, to := old.state(now), next.state(now); from != to {
		b.changed(context.Background(), from, to, ReasonManual, 0)
	}
}
