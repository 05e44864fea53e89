package membership

import (
	"time"

	"github.com/backstay-go/backstay"
)

// lease says whether this process may believe what the group has told it. It
// must be looked at often: a process that was stopped finds out by the gap
// between two looks. It reads no clock.
type lease struct {
	length time.Duration // how long an answer of the group holds
	gap    time.Duration // between two looks: above, this process was stopped

	looked  backstay.Instant
	since   backstay.Instant // answers to what was asked before do not count
	contact backstay.Instant // when the latest answered question was asked
	pauses  uint64
}

// renew takes an answer of the group that this process is a member: that to a
// question which was asked at this time.
func (l *lease) renew(asked backstay.Instant) { l.contact = max(l.contact, asked) }

// look reports whether this process has been stopped since the last look.
func (l *lease) look(now backstay.Instant) (stopped bool) {
	if stopped = l.looked != 0 && now.Sub(l.looked) > l.gap; stopped {
		l.since = now
		l.pauses++
	}
	l.looked = now
	return stopped
}

// held reports whether what the group has said still holds.
func (l *lease) held(now backstay.Instant) bool {
	return l.contact != 0 && l.contact >= l.since && now.Sub(l.contact) <= l.length
}
