package breaker_test

import (
	"cmp"
	"slices"
	"time"

	"github.com/backstay-go/backstay/breaker"
)

// model is a breaker as one would write it without any thought of speed: it
// keeps every call and looks at all of them. Its time is a duration since the
// start; it is for one goroutine.
type model struct {
	c       breaker.Config // with every setting written out
	state   breaker.State  // HalfOpen from the first probe on
	epoch   int            // counts the changes of state, openings apart
	calls   []modelCall    // since the window was last empty
	opening int
	until   time.Duration
	probes  []*modelPass
	passed  int
	changes []string
}

type modelCall struct {
	at           time.Duration
	failed, slow bool
}

type modelPass struct {
	epoch int
	probe bool
	end   time.Duration
	pass  breaker.Pass // the real one's
	began time.Duration
}

// now tells the state at a time.
func (m *model) now(at time.Duration) breaker.State {
	if m.state == breaker.Open && at >= m.until {
		return breaker.HalfOpen
	}
	return m.state
}

func (m *model) change(to breaker.State, at time.Duration) {
	if from := m.now(at); from != to {
		m.changes = append(m.changes, from.String()+">"+to.String())
	}
	m.state, m.calls, m.probes, m.passed = to, nil, nil, 0
	m.epoch++
}

func (m *model) open(at time.Duration, from string, n int) {
	m.changes = append(m.changes, from+">open")
	m.state, m.calls, m.probes, m.passed = breaker.Open, nil, nil, 0
	m.epoch++
	m.opening, m.until = n, at+min(m.c.OpenFor<<(n-1), m.c.MaxOpenFor)
}

// allow returns nil where the call is rejected.
func (m *model) allow(at time.Duration) *modelPass {
	switch m.now(at) {
	case breaker.Open, breaker.ForcedOpen:
		return nil
	case breaker.HalfOpen:
		if m.state == breaker.Open {
			m.changes = append(m.changes, "open>half-open")
			m.state = breaker.HalfOpen
		}
		if len(m.probes)+m.passed >= m.c.Probes {
			m.probes = slices.DeleteFunc(m.probes, func(p *modelPass) bool { return at >= p.end })
		}
		if len(m.probes)+m.passed >= m.c.Probes {
			return nil
		}
		p := &modelPass{epoch: m.epoch, probe: true, end: at + m.c.ProbeLease, began: at}
		m.probes = append(m.probes, p)
		return p
	default:
		return &modelPass{epoch: m.epoch, began: at}
	}
}

// done ends a call; v says how.
func (m *model) done(p *modelPass, at time.Duration, neutral bool, v modelCall) {
	if p.epoch != m.epoch {
		return
	}
	v.at = at
	switch {
	case p.probe:
		m.probed(p, at, neutral, v)
	case neutral || m.state == breaker.ForcedClosed:
	default:
		m.calls = append(m.calls, v)
		if m.state == breaker.Closed && (v.failed || v.slow) && m.trips(at) {
			m.open(at, "closed", 1)
		}
	}
}

func (m *model) probed(p *modelPass, at time.Duration, neutral bool, v modelCall) {
	i := slices.Index(m.probes, p)
	if i < 0 {
		return
	}
	m.probes = slices.Delete(m.probes, i, i+1)
	switch {
	case neutral:
	case v.failed || v.slow:
		m.open(at, "half-open", m.opening+1)
	default:
		if m.passed++; m.passed == m.c.Probes {
			m.change(breaker.Closed, at)
		}
	}
}

// counts looks at the whole history.
func (m *model) counts(at time.Duration) (c breaker.Counts) {
	recent := m.calls
	if m.c.TimeWindow > 0 {
		width := m.c.TimeWindow / time.Duration(m.c.Buckets)
		recent = slices.DeleteFunc(slices.Clone(recent), func(v modelCall) bool {
			return v.at/width <= at/width-time.Duration(m.c.Buckets)
		})
	} else {
		recent = recent[max(0, len(recent)-m.c.Window):]
	}
	for _, v := range recent {
		c.Calls++
		if v.failed {
			c.Failures++
		}
		if v.slow {
			c.Slow++
		}
	}
	for i := len(m.calls) - 1; i >= 0 && m.calls[i].failed; i-- {
		c.Consecutive++
	}
	return c
}

func (m *model) trips(at time.Duration) bool {
	c := m.counts(at)
	enough := c.Calls >= m.c.MinCalls
	return m.c.Consecutive > 0 && c.Consecutive >= m.c.Consecutive ||
		enough && m.c.FailureRatio > 0 && float64(c.Failures)/float64(c.Calls) >= m.c.FailureRatio ||
		enough && m.c.SlowRatio > 0 && float64(c.Slow)/float64(c.Calls) >= m.c.SlowRatio
}

// newModel writes the defaults out.
func newModel(c breaker.Config) *model {
	if c.TimeWindow == 0 {
		c.Window = cmp.Or(c.Window, 20)
	}
	c.Buckets = cmp.Or(c.Buckets, 10)
	c.FailureRatio = cmp.Or(c.FailureRatio, 0.5)
	c.MinCalls = cmp.Or(c.MinCalls, 10)
	c.OpenFor = cmp.Or(c.OpenFor, 5*time.Second)
	c.MaxOpenFor = cmp.Or(c.MaxOpenFor, time.Minute)
	c.Probes = cmp.Or(c.Probes, 1)
	c.ProbeLease = cmp.Or(c.ProbeLease, 30*time.Second)
	return &model{c: c}
}
