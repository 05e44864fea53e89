package console

import (
	"sync"
	"sync/atomic"

	"github.com/backstay-go/backstay"
)

// series is what the observer remembers of one pipeline. A nil *series is that
// of a pipeline that nothing was heard of.
type series struct {
	pulse    pulse
	timeline timeline
	notices  notices

	once      sync.Once
	latencies atomic.Pointer[latencies] // nil before the first call
}

// hear counts what e tells.
func (s *series) hear(now backstay.Instant, e backstay.Event) {
	switch e.Kind {
	case backstay.CallDone:
		s.ended(now, e)
	case backstay.RetryPlanned:
		s.pulse.add(retries, now)
	case backstay.HedgeStarted:
		s.pulse.add(copies, now)
	case backstay.HedgeDone:
		if e.Reason == backstay.ReasonHedgeWon && e.Copy > 1 {
			s.pulse.add(wins, now)
		}
	case backstay.FallbackUsed:
		s.pulse.add(fallbacks, now)
	case backstay.BreakerChanged:
		s.timeline.add(transition{at: now, from: e.From, to: e.To, why: e.Reason, wait: e.Wait})
	case backstay.FaultInjected:
		s.pulse.add(faults, now)
	default: // at most notable
	}
}

// ended counts a call. Its time says something where it reached the backend,
// and was not cut short by the caller's change of mind.
func (s *series) ended(now backstay.Instant, e backstay.Event) {
	s.pulse.add(calls, now)
	switch class := e.Outcome.Class; {
	case class == backstay.Rejected:
		s.pulse.add(refused, now)
		return
	case class == backstay.Canceled:
		return
	case class.Failure():
		s.pulse.add(failed, now)
	}
	l := s.latencies.Load()
	if l == nil {
		s.once.Do(func() { s.latencies.Store(newLatencies()) })
		l = s.latencies.Load()
	}
	l.add(now, e.Elapsed)
}

// bars returns the history of m.
func (s *series) bars(m measure, now backstay.Instant) Bars {
	if s == nil {
		return Bars{}
	}
	return s.pulse.bars(m, now)
}

// all returns the history of everything.
func (s *series) all(now backstay.Instant) (b [measures]Bars) {
	if s == nil {
		return b
	}
	for m := range measures {
		b[m] = s.pulse.bars(m, now)
	}
	return b
}

func (s *series) percentiles(now backstay.Instant) (percentiles, bool) {
	if s == nil {
		return percentiles{}, false
	}
	return s.latencies.Load().percentiles(now)
}

func (s *series) transitions() []transition {
	if s == nil {
		return nil
	}
	return s.timeline.transitions()
}
