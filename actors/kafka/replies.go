package kafka

import (
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/kafka/internal/direct"
)

// replies is what is known of the topic of answers. Partitions may be added to
// it at any time, and who starts after that may be in one of them.
type replies struct {
	partitions atomic.Int32
	looked     atomic.Int64 // a [backstay.Instant]: when somebody began to look for more
}

// lookAgainAfter is how long nobody looks again: anybody may ask for answers at
// an address that does not exist.
const lookAgainAfter = time.Second

// look reports whether the caller is to look for more partitions now.
func (r *replies) look(now backstay.Instant) bool {
	last := r.looked.Load()
	if last != 0 && now.Sub(backstay.Instant(last)) < lookAgainAfter {
		return false
	}
	return r.looked.CompareAndSwap(last, int64(now))
}

// widen looks whether the topic of answers has more partitions by now, and then
// sends an answer to one of them. Others that come meanwhile are lost: who waits
// asks again.
func (l *Log) widen(at place, m direct.Letter) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed || !l.replies.look(backstay.Now()) {
		return
	}
	l.work.Go(func() {
		name := l.config.topic(repliesName)
		all, err := again(l.ctx, "partitions of "+name, func() ([]int32, error) {
			if err := l.appender.client.RefreshMetadata(name); err != nil {
				return nil, err
			}
			return l.appender.client.Partitions(name)
		})
		if err != nil {
			return // whoever sends the next one looks again
		}
		l.replies.partitions.Store(int32(len(all))) //nolint:gosec // a count
		if at.partition < int32(len(all)) {         //nolint:gosec // a count
			l.mail(at, m)
		}
	})
}
