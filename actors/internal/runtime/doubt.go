package runtime

import (
	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// wary is a membership that finds out that this process did not run for a
// while: that it was stopped, or its machine was. Owners ask before whatever
// they begin. What is appended after a pause is void if somebody else has taken
// over; only what methods do outside is not.
type wary interface {
	// Pauses counts them, up to now.
	Pauses(now backstay.Instant) uint64
}

// doubt is whether an incarnation can know that it owns its partition.
type doubt struct {
	pauses uint64
	probes int // that are appended and not applied yet
}

// pauses is how many there were, none where nobody counts them.
func (n *Node) pauses(now backstay.Instant) uint64 {
	if n.wary == nil {
		return 0
	}
	return n.wary.Pauses(now)
}

// doubtful reports whether nothing may begin: there was a pause, and no own
// record that was appended after it is applied. Once one is, every Takeover
// that came before it has been read. The record says nothing.
func (inc *incarnation) doubtful() bool {
	if n := inc.node.pauses(inc.instant); n != inc.doubt.pauses {
		inc.doubt.pauses = n
		inc.doubt.probes++
		inc.try(&record.Expired{Epoch: inc.epoch}, func(machine.Void) { inc.doubt.probes-- })
	}
	return inc.doubt.probes > 0
}
