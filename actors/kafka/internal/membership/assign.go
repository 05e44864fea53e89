package membership

import (
	"context"
	"slices"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/journal"
)

// What the group says: the methods of keeper.

func (m *Membership) instance() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.self
}

func (m *Membership) granted(all []journal.Partition, asked backstay.Instant) {
	m.update(func() {
		m.share, m.joined = all, true
		m.renew(asked)
	})
	m.report(Event{Kind: Joined, Instance: m.instance()})
	m.answer(nil)
}

func (m *Membership) confirmed(asked backstay.Instant) {
	m.update(func() { m.renew(asked) })
}

// audible waits until a beat of this instance was read back: a member that is not
// heard would be taken for dead.
func (m *Membership) audible(ctx context.Context) error {
	m.mu.Lock()
	tuned := m.tuned
	m.mu.Unlock()
	select {
	case <-tuned:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *Membership) removed(why error) {
	former := m.instance()
	m.update(func() {
		m.share = nil
		m.former = append(m.former, m.self)
		m.self = newInstance(m.config.Member.Name)
		m.detector.rename(m.self)
		m.tuned, m.readBack = make(chan struct{}), 0
	})
	m.report(Event{Kind: Removed, Instance: former, Reason: why.Error()})
	m.writer.hurry()
}

func (m *Membership) asked(err error) {
	m.asking.note(err)
	if hopeless(err) {
		m.answer(err)
	}
}

// answer is for the one who waits in Join.
func (m *Membership) answer(err error) {
	select {
	case m.first <- err:
	default: // there is an answer already
	}
}

// watch looks at the lease often enough to find that this process was stopped.
func (m *Membership) watch(ctx context.Context) {
	t := time.NewTicker(m.lease.gap / looks)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			m.look()
		case <-ctx.Done():
			return
		}
	}
}

// looks is how many of them are in the gap that means a stop.
const looks = 4

func (m *Membership) look() { m.update(func() {}) }

// update changes what is known, and tells if that changes what is assigned.
func (m *Membership) update(change func()) {
	m.mu.Lock()
	now := backstay.Now()
	stopped := m.lease.look(now) // before the change: it may be the answer to a question from before the stop
	m.pauses.publish(&m.lease)
	change()
	was := m.held
	m.held = m.lease.held(now)
	m.tell()
	self, held, joined := m.self, m.held, m.joined
	m.mu.Unlock()
	if stopped {
		m.report(Event{Kind: Stopped, Instance: self})
	}
	switch {
	case !joined || was == held:
	case held:
		m.report(Event{Kind: LeaseHeld, Instance: self})
	default:
		m.report(Event{Kind: LeaseLost, Instance: self})
	}
}

// tell says what is assigned, if that is something else now.
func (m *Membership) tell() {
	var all []journal.Partition
	if m.held && !m.left {
		all = m.share
	}
	if slices.Equal(all, m.assigned) {
		return
	}
	m.assigned = all
	close(m.changed)
	m.changed = make(chan struct{})
}
