package runtime

import (
	"context"
	"slices"

	"github.com/backstay-go/backstay/actors/journal"
)

// assign keeps the owners to what is assigned, until the node stops.
func (n *Node) assign(life context.Context) {
	for {
		all, changed := n.membership.Assigned()
		ended := n.follow(life, all)
		select {
		case <-changed:
		case <-ended:
		case <-n.stopping:
			n.drainAll()
			return
		}
	}
}

// follow starts owners of what is new, and drains those of what is gone. It
// returns a channel that is closed when an owner has gone whose partition is
// assigned again meanwhile, nil if there is none.
func (n *Node) follow(life context.Context, all []journal.Partition) (ended <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.assigned = true
	for p, o := range n.owners {
		if !slices.Contains(all, p) {
			o.drain()
		}
	}
	for _, p := range all {
		t := n.types[p.Type]
		o := n.owners[p]
		switch {
		case t == nil:
			continue // not ours: the membership is of another mind
		case o == nil:
		case !o.mustDrain():
			continue
		case !o.hasEnded():
			ended = o.ended
			continue
		}
		o = newOwner(n, t, p)
		n.owners[p] = o
		go o.run(life)
	}
	for p, o := range n.owners {
		if o.mustDrain() && o.hasEnded() {
			delete(n.owners, p)
		}
	}
	return ended
}

func (o *owner) hasEnded() bool {
	select {
	case <-o.ended:
		return true
	default:
		return false
	}
}

func (n *Node) drainAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, o := range n.owners {
		o.drain()
	}
}
