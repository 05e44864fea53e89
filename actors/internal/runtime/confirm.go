package runtime

import (
	"context"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/journal"
)

// sure is a membership that can ask who shares the partitions out whether one is
// still this process's.
type sure interface {
	// Confirmed reports whether it is, by an answer to a question that was asked
	// after since; changed is closed when there may be another.
	Confirmed(p journal.Partition, since backstay.Instant) (ok bool, changed <-chan struct{})
}

// confirmed waits until the partition is this process's by a word that is newer
// than its loss, and reports whether to claim it again. Who has taken over knew
// of a newer assignment, or of an older one. If of a newer one, no such word
// comes, and this process stands down; if of an older one, it comes at once, and
// the other stands down. Without it both go on taking over from each other for
// as long as both believe that they are assigned, and each time counts as an
// attempt of what runs. A membership that cannot be asked is believed, and so is
// the assignment of who has lost nothing yet.
func (o *owner) confirmed(ctx context.Context, lost backstay.Instant) bool {
	m := o.node.sure
	if m == nil || lost == 0 {
		return true
	}
	for {
		ok, changed := m.Confirmed(o.partition, lost)
		if ok {
			return true
		}
		select {
		case <-changed:
		case <-o.draining:
			return false
		case <-ctx.Done():
			return false
		}
	}
}
