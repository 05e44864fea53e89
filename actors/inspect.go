package actors

import (
	"context"

	"github.com/backstay-go/backstay/actors/inspect"
)

// Inspection is how a node is, for people, for package admin and for the
// console.
type Inspection = inspect.Node

// Inspect tells how the node and its partitions are. All partitions are asked
// at once; of those that do not answer before ctx ends only the phase is told.
func (n *Node) Inspect(ctx context.Context) Inspection { return n.runtime.Inspect(ctx) }

// Depths tells how much waits in the partitions that the node owns: what a
// gauge needs of Inspect, for a fraction of its cost. Partitions that do not
// answer before ctx ends are left out.
func (n *Node) Depths(ctx context.Context) []inspect.Depth { return n.runtime.Depths(ctx) }

// Health returns nil if the node owns everything it was assigned and nothing
// keeps it from its work; otherwise everything that is wrong, one error each,
// joined. After Stop it is [ErrStopped]. It does not wait.
func (n *Node) Health() error {
	if n.ctx.Err() != nil {
		return ErrStopped
	}
	return healthError(n.runtime.Health())
}
