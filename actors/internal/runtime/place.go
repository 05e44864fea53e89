package runtime

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay/actors/journal"
)

// place is where the actors of a type are: how many partitions they have, and
// which of those this process owns.
type place struct {
	count  uint32 // fixed for ever, and so asked for once
	owners []atomic.Pointer[incarnation]
}

// places are those of all types that were asked for.
type places struct {
	mu    sync.Mutex
	known atomic.Pointer[map[string]*place] // replaced, never changed
}

// lookup returns the place of a type, nil if it is not known yet.
func (p *places) lookup(actorType string) *place {
	if known := p.known.Load(); known != nil {
		return (*known)[actorType]
	}
	return nil
}

// add notes how many partitions a type has.
func (p *places) add(actorType string, count uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lookup(actorType) != nil {
		return
	}
	next := make(map[string]*place)
	if known := p.known.Load(); known != nil {
		maps.Copy(next, *known)
	}
	next[actorType] = &place{count: count, owners: make([]atomic.Pointer[incarnation], count)}
	p.known.Store(&next)
}

// owner is who of this process owns a partition, nil if nobody does.
func (p *places) owner(of journal.Partition) *incarnation {
	at := p.lookup(of.Type)
	if at == nil || of.Index >= at.count {
		return nil
	}
	return at.owners[of.Index].Load()
}

// count is the number of partitions of a type.
func (n *Node) count(ctx context.Context, actorType string) (uint32, error) {
	if at := n.places.lookup(actorType); at != nil {
		return at.count, nil
	}
	c, err := n.log.Count(ctx, actorType)
	if err == nil && c == 0 {
		err = journal.ErrNoType
	}
	if err != nil {
		return 0, fmt.Errorf("runtime: type %q: %w", actorType, err)
	}
	n.places.add(actorType, c)
	return c, nil
}

// countFor bounds the question from within a method.
const countFor = 10 * time.Second

// countNow is the number of partitions of a type, for those who have no context.
func (n *Node) countNow(actorType string) (uint32, error) {
	if at := n.places.lookup(actorType); at != nil {
		return at.count, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), countFor)
	defer cancel()
	return n.count(ctx, actorType)
}

// counted is the number of partitions of a type that is hosted here.
func (n *Node) counted(actorType string) uint32 { return n.places.lookup(actorType).count }

// here is the place of the owner's partition, for those who want to help it.
func (o *owner) here() *atomic.Pointer[incarnation] {
	return &o.node.places.lookup(o.partition.Type).owners[o.partition.Index]
}
