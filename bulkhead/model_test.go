package bulkhead_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/backstay-go/backstay/bulkhead"
)

// A model is a bulkhead as one would explain it: lists, and no cleverness. The
// real one must agree with it after every operation.
type model struct {
	limit, maxQueue int64
	maxWait         time.Duration
	now             time.Duration
	calls           []*modelCall // in the order of their arrival
}

type modelCall struct {
	weight   int64
	priority bulkhead.Priority
	waitsTil time.Duration // when MaxWait is over, 0: never
	deadline time.Duration // the caller's own, 0: none
	is       state
}

// A state is what a call does, and since when.
type state struct {
	what  string
	since time.Duration
}

func (m *model) set(c *modelCall, what string) { c.is = state{what, m.now} }

// The states of a call.
const (
	calling   = "waiting"
	holding   = "admitted"
	returned  = "over"
	refused   = "refused"
	overdue   = "refused at its deadline"
	cancelled = "cancelled"
)

// ceiling is that of shares of 3/4 and 1/2, rounded up.
func (m *model) ceiling(p bulkhead.Priority) int64 {
	switch p {
	case bulkhead.Critical:
		return m.limit
	case bulkhead.Default:
		return (m.limit*3 + 3) / 4
	default:
		return (m.limit + 1) / 2
	}
}

func (m *model) inFlight() (sum int64) {
	for _, c := range m.calls {
		if c.is.what == holding {
			sum += c.weight
		}
	}
	return sum
}

// waiting returns who waits, in the order of service.
func (m *model) waiting() (line []*modelCall) {
	for p := bulkhead.Critical; p >= bulkhead.Sheddable; p-- {
		for _, c := range m.calls {
			if c.is.what == calling && c.priority == p {
				line = append(line, c)
			}
		}
	}
	return line
}

// settle admits from the head of the line whoever fits.
func (m *model) settle() {
	for _, c := range m.waiting() {
		switch ceiling := m.ceiling(c.priority); {
		case c.weight > ceiling:
			m.set(c, refused)
		case m.inFlight()+c.weight <= ceiling:
			m.set(c, holding)
		default:
			return
		}
	}
}

func (m *model) fits(c *modelCall) bool {
	ahead := slices.ContainsFunc(m.waiting(), func(w *modelCall) bool { return w.priority >= c.priority })
	return !ahead && m.inFlight()+c.weight <= m.ceiling(c.priority)
}

// arrive is a call of Acquire.
func (m *model) arrive(c *modelCall) {
	line := m.waiting()
	m.calls = append(m.calls, c)
	switch {
	case c.weight > m.ceiling(c.priority):
		m.set(c, refused)
	case m.fits(c):
		m.set(c, holding)
	case int64(len(line)) < m.maxQueue:
		m.set(c, calling)
	case len(line) > 0 && line[len(line)-1].priority < c.priority:
		m.set(line[len(line)-1], refused)
		m.set(c, calling)
	default:
		m.set(c, refused)
	}
}

// try is a call of TryAcquire.
func (m *model) try(c *modelCall) {
	if m.set(c, refused); m.fits(c) {
		m.set(c, holding)
	}
	m.calls = append(m.calls, c)
}

// end takes a call out of the state it is in.
func (m *model) end(c *modelCall, what string) {
	m.set(c, what)
	m.settle()
}

// pass lets the time go on to a moment.
func (m *model) pass(to time.Duration) {
	for {
		var first *modelCall
		var is state
		for _, c := range m.waiting() {
			for _, end := range []state{{refused, c.waitsTil}, {overdue, c.deadline}} {
				if end.since > m.now && end.since <= to && (first == nil || end.since < is.since) {
					first, is = c, end
				}
			}
		}
		if first == nil {
			m.now = to
			return
		}
		m.now = is.since
		m.end(first, is.what)
	}
}

// agree compares the model with what is seen of the real one.
func (m *model) agree(b *bulkhead.Bulkhead, states []state) error {
	for i, c := range m.calls {
		if states[i] != c.is {
			return fmt.Errorf("call %d (%v, weight %d) is %v, want %v", i, c.priority, c.weight, states[i], c.is)
		}
	}
	if got, want := b.InFlight(), m.inFlight(); got != want {
		return fmt.Errorf("%d in flight, want %d", got, want)
	}
	if got, want := b.Queued(), int64(len(m.waiting())); got != want {
		return fmt.Errorf("%d queued, want %d", got, want)
	}
	return nil
}
