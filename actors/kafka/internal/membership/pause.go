package membership

import (
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
)

// pauses is what the lease knows of stops, for owners that ask before whatever
// they begin: without a lock.
type pauses struct {
	gap    time.Duration
	count  atomic.Uint64
	looked atomic.Int64 // written last, so that it never hides one that is not counted
}

func (p *pauses) publish(l *lease) {
	p.count.Store(l.pauses)
	p.looked.Store(int64(l.looked))
}

// Pauses is how often this process was found not to have run for half of a
// session, up to now, which may be the first to find it. What a process knew
// before a pause may be long out of date: others may own what it owned. It may
// count one twice.
func (m *Membership) Pauses(now backstay.Instant) uint64 {
	p := &m.pauses
	looked := backstay.Instant(p.looked.Load())
	if looked != 0 && now.Sub(looked) > p.gap {
		return p.count.Load() + 1
	}
	return p.count.Load()
}
