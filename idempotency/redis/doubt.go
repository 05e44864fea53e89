package redis

import (
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
)

// brevity is the part of the timeout that an operation in a hurry waits while
// it is doubtful whether Redis answers at all.
const brevity = 10

// doubt remembers that Redis has lately failed to answer, so that a Redis that
// hangs does not cost every call the whole timeout. Redis is asked all the
// same, so that nothing is missed when it comes back; and one operation in
// each timeout waits patiently, so that a Redis that has become slow, or needs
// a new connection, is found again. The zero value has no doubt.
type doubt struct {
	patient atomic.Int64 // the instant from which one may wait patiently again; 0: no doubt
}

// patience returns for how long an operation that begins now waits.
func (d *doubt) patience(now backstay.Instant, full time.Duration) time.Duration {
	next := d.patient.Load()
	switch {
	case next == 0:
		return full
	case now >= backstay.Instant(next) && d.patient.CompareAndSwap(next, int64(now.Add(full))):
		return full
	default:
		return full / brevity
	}
}

// haste is patience for an operation that does not find out.
func (d *doubt) haste(full time.Duration) time.Duration {
	if d.patient.Load() == 0 {
		return full
	}
	return full / brevity
}

// unanswered notes that Redis did not answer within a time in which it should.
func (d *doubt) unanswered(now backstay.Instant, full time.Duration) {
	d.patient.CompareAndSwap(0, int64(now.Add(full)))
}

// answered notes that Redis answered.
func (d *doubt) answered() {
	if d.patient.Load() != 0 {
		d.patient.Store(0)
	}
}
