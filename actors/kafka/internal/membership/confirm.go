package membership

import (
	"slices"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/journal"
)

// Confirmed reports whether the group has said that a partition is this
// process's, in answer to a question that was asked after since. Until it has, it
// is asked at once. changed is closed with the group's next answer.
//
// A coordinator answers members of its latest generation alone: who lost the
// partition to one of a later generation gets no such answer before it has joined
// that generation.
func (m *Membership) Confirmed(p journal.Partition, since backstay.Instant) (ok bool, changed <-chan struct{}) {
	m.look()
	m.mu.Lock()
	defer m.mu.Unlock()
	asked := m.lease.contact > since
	if !asked {
		m.group.hurry()
	}
	return asked && slices.Contains(m.assigned, p), m.answered
}

// renew takes an answer of the group that this process is a member. mu is held.
func (m *Membership) renew(asked backstay.Instant) {
	m.lease.renew(asked)
	close(m.answered)
	m.answered = make(chan struct{})
}
