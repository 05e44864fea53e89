package breaker

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
)

// gate stands in the way of calls while a breaker is not closed: by hand, or
// for one opening and the probes that follow it.
type gate struct {
	// manual is ForcedOpen, ForcedClosed or MetricsOnly; Closed for a gate
	// that an outage put up.
	manual State
	// name is the breaker's, for errors.
	name string
	// number counts the openings since the breaker was last closed, from 1.
	number int
	// wait is how long this opening lasts.
	wait time.Duration
	// until is the Instant before which nobody can be admitted, so that
	// rejecting takes no lock: the end of the opening, then the end of the
	// next lease while all places are taken.
	until atomic.Int64
	// probing is true from the first probe on.
	probing atomic.Bool

	mu      sync.Mutex // guards what follows
	machine *machine
	probes  []*probe // under way
}

// probe is a call that was admitted while half-open.
type probe struct {
	report func(error) // once, under gate.mu, while listed in gate.probes
	end    backstay.Instant
	first  bool // of its opening
}

// newGate makes the gate of opening number n, which begins now.
func newGate(s *settings, name string, n int) *gate {
	g := &gate{name: name, number: n, wait: s.openFor(n)}
	g.machine = newMachine(g.wait, s.Probes)
	g.until.Store(int64(backstay.Now().Add(g.wait))) // after the machine's own, so never early
	return g
}

// forcedGate makes a gate that is put up by hand.
func forcedGate(name string, manual State) *gate {
	g := &gate{name: name, manual: manual}
	if manual == ForcedOpen {
		g.until.Store(math.MaxInt64)
	}
	return g
}

// passes reports whether the gate admits every call.
func (g *gate) passes() bool { return g.manual == ForcedClosed || g.manual == MetricsOnly }

// shut reports whether nobody can be admitted at now.
func (g *gate) shut(now backstay.Instant) bool { return int64(now) < g.until.Load() }

// state is what the gate does with calls at now.
func (g *gate) state(now backstay.Instant) State {
	switch {
	case g.manual != Closed:
		return g.manual
	case g.probing.Load(), !g.shut(now):
		return HalfOpen
	default:
		return Open
	}
}

// admit asks for a probe's place; nil means that there is none. Its caller
// holds mu.
func (g *gate) admit(now backstay.Instant, lease time.Duration) *probe {
	report, ok := g.machine.ask()
	if !ok && g.expire(now) {
		report, ok = g.machine.ask()
	}
	if !ok {
		g.until.Store(int64(g.nextLease()))
		return nil
	}
	p := &probe{report: report, end: now.Add(lease), first: g.probing.CompareAndSwap(false, true)}
	g.probes = append(g.probes, p)
	return p
}

// expire takes the places of probes whose lease is over. It reports whether
// there were any.
func (g *gate) expire(now backstay.Instant) (freed bool) {
	kept := g.probes[:0]
	for _, p := range g.probes {
		if now < p.end {
			kept = append(kept, p)
			continue
		}
		p.report(errNeutral)
		freed = true
	}
	clear(g.probes[len(kept):])
	g.probes = kept
	return freed
}

// nextLease is the end of the lease that ends first, 0 if there is none.
func (g *gate) nextLease() (next backstay.Instant) {
	for _, p := range g.probes {
		if next == 0 || p.end < next {
			next = p.end
		}
	}
	return next
}

// settle ends a probe, unless it has lost its place before. Its caller holds mu.
func (g *gate) settle(p *probe, v verdict) {
	i := slices.Index(g.probes, p)
	if i < 0 {
		return
	}
	g.probes = slices.Delete(g.probes, i, i+1)
	switch {
	case v.neutral:
		p.report(errNeutral)
		g.until.Store(0) // its place is free
	case v.bad():
		p.report(errFailed)
	default:
		p.report(nil)
	}
}

// busy reports whether the gate must not be forgotten at now: it was put up by
// hand, its opening is not over, or a probe is under way.
func (g *gate) busy(now backstay.Instant) bool {
	if g.manual != Closed || g.shut(now) {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.probes, func(p *probe) bool { return now < p.end })
}
