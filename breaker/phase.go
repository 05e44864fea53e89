package breaker

import (
	"sync/atomic"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/window"
)

// phase is the time between two changes of a breaker's state. A call belongs to
// the phase in which it began and reports to that one, however late: once the
// breaker has moved on, nobody looks at the old phase any more. A change of
// state is an atomic swap of the breaker's phase, so each has exactly one
// author, who tells the observers.
type phase struct {
	// strip holds the last calls while closed, where the window is that small.
	strip atomic.Uint64
	// wide holds the window otherwise.
	wide *wide
	// gate stands in the way of calls; nil while closed.
	gate *gate
}

// wide is a window that is too large for one word: one of the two is set.
type wide struct {
	last    *window.Last
	rolling *window.Rolling
}

// state is what the breaker does with calls at now.
func (p *phase) state(now backstay.Instant) State {
	if p.gate == nil {
		return Closed
	}
	return p.gate.state(now)
}

// prepare makes p ready to count calls.
func (p *phase) prepare(s *settings) {
	switch {
	case s.TimeWindow > 0:
		p.wide = &wide{rolling: window.NewRolling(s.TimeWindow, s.Buckets)}
	case s.wide:
		p.wide = &wide{last: window.NewLast(s.Window)}
	default:
		p.strip.Store(s.strip.Empty())
	}
}

// add counts a call. now is looked at by a time window only.
func (p *phase) add(s *settings, v verdict, now backstay.Instant) {
	switch {
	case p.wide == nil:
		p.push(s, v)
	case p.wide.rolling != nil:
		p.wide.rolling.Add(now, v.failed, v.slow)
	default:
		p.wide.last.Add(v.failed, v.slow)
	}
}

func (p *phase) push(s *settings, v verdict) {
	for {
		was := p.strip.Load()
		is := s.strip.Push(was, v.failed, v.slow)
		if is == was || p.strip.CompareAndSwap(was, is) {
			return
		}
	}
}

// counts tells what the window holds at now.
func (p *phase) counts(s *settings, now backstay.Instant) Counts {
	switch {
	case p.wide == nil:
		return Counts(s.strip.Counts(p.strip.Load()))
	case p.wide.rolling != nil:
		return Counts(p.wide.rolling.Counts(now))
	default:
		return Counts(p.wide.last.Counts())
	}
}
