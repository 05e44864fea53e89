package runtime

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// identities makes the ids of what an incarnation calls and tells: those of
// [record.ChildID], without hashing each time. A retry counts on (H15).
type identities struct {
	base    record.ID
	counter *atomic.Uint64
}

func newIdentities(p record.Partition, epoch uint64) identities {
	return identities{base: record.ChildID(p, epoch, 0), counter: new(atomic.Uint64)}
}

func (i identities) next() record.ID {
	n := i.counter.Add(1)
	if n > record.MaxCounter {
		panic("runtime: an epoch has no ids left")
	}
	id := i.base
	id[11] = byte(n >> 32)
	binary.BigEndian.PutUint32(id[12:], uint32(n))
	return id
}
