package chaos

import (
	"maps"
	"slices"
	"time"

	"github.com/backstay-go/backstay/middleware"
)

// plan is a set of faults that is in force.
type plan struct {
	rules []rule
	over  chan struct{} // closed when the plan is no longer in force
}

// rule is a fault that has been prepared for deciding. It does not change.
type rule struct {
	fault *middleware.Fault
	match match
}

func compile(faults []middleware.Fault) []rule {
	rules := make([]rule, len(faults))
	for i := range faults {
		f := clone(&faults[i])
		rules[i] = rule{fault: &f, match: newMatch(f.Match)}
	}
	return rules
}

// clone returns a copy of f that shares nothing with it.
func clone(f *middleware.Fault) middleware.Fault {
	c := *f
	c.Headers = maps.Clone(f.Headers)
	c.Match.Methods = slices.Clone(f.Match.Methods)
	return c
}

// Decision is what happens to one call. The zero Decision is nothing.
type Decision struct {
	// Injected are the faults of the call, in order. At most the last one ends
	// the call or changes its answer.
	Injected []Injected
}

// Injected is one fault of one call.
type Injected struct {
	// Fault must not be changed.
	Fault *middleware.Fault
	// Latency is how long the fault holds the call up first.
	Latency time.Duration
}

// decide is pure; a nil plan has no faults.
func (p *plan) decide(now time.Time, r Request, draw func() float64) (d Decision) {
	if p == nil {
		return d
	}
	for i := range p.rules {
		f := p.rules[i].fault
		if !f.Active(now) || !p.rules[i].match.fits(r) || !(draw() < f.Share) {
			continue
		}
		hit := Injected{Fault: f}
		if f.Latency != (middleware.Latency{}) {
			hit.Latency = Draw(f.Latency, draw())
		}
		d.Injected = append(d.Injected, hit)
		if f.Kind != middleware.FaultLatency {
			break
		}
	}
	return d
}
