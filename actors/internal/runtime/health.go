package runtime

import (
	"cmp"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// Health is what keeps a node from its work.
type Health struct {
	// Ready: it is known what is assigned, and all of that is owned.
	Ready bool
	// Problems are why not, and what else is wrong, by partition.
	Problems []Problem
}

// Problem is one thing that is wrong.
type Problem struct {
	Partition record.Partition
	Err       error
}

// Health tells what keeps the node from doing its work; it does not wait.
func (n *Node) Health() Health {
	n.mu.Lock()
	h := Health{Ready: n.assigned || n.membership == nil}
	n.mu.Unlock()
	for _, o := range n.all() {
		if o.hasEnded() {
			continue
		}
		o.mu.Lock()
		owning, err := o.phase == PhaseOwning, cmp.Or(o.problem, o.hinders)
		o.mu.Unlock()
		h.Ready = h.Ready && owning
		if err != nil {
			h.Problems = append(h.Problems, Problem{Partition: o.self, Err: err})
		}
	}
	return h
}
