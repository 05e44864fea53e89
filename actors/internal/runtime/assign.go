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
		n.follow(life, all)
		select {
		case <-changed:
		case <-n.vacant: // its partition may be assigned again meanwhile
		case <-n.stopping:
			n.drainAll()
			return
		}
	}
}

// follow starts owners of what is new, and drains those of what is gone. What is
// assigned again while it is drained gets a new owner when the old one has gone,
// whichever of several that is: another that drains may wait for what this one
// has to run.
func (n *Node) follow(life context.Context, all []journal.Partition) {
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
			continue
		}
		o = newOwner(n, t, p)
		n.owners[p] = o
		go func() {
			o.run(life)
			n.vacate()
		}()
	}
	for p, o := range n.owners {
		if o.mustDrain() && o.hasEnded() {
			delete(n.owners, p)
		}
	}
}

// vacate says that an owner has gone.
func (n *Node) vacate() {
	select {
	case n.vacant <- struct{}{}:
	default: // it is said already
	}
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
