package runtime

import (
	"context"
	"slices"

	"github.com/backstay-go/backstay/actors/inspect"
)

// Depths tells how much waits in the partitions that the node owns, ordered by
// name. It is Inspect for those who ask often: all loops are asked at once, and
// each looks at the mailboxes that are not empty, and at nothing in them. Those
// that do not answer before ctx ends are left out.
func (n *Node) Depths(ctx context.Context) []inspect.Depth {
	type reply struct {
		inspect.Depth
		given bool
	}
	replies := survey(ctx, n.all(),
		func(o *owner) reply {
			return reply{Depth: inspect.Depth{Type: o.self.Type, Index: o.self.Index}}
		},
		func(inc *incarnation, r *reply) {
			r.Requests, r.Oldest, r.Outputs, r.given = inc.state.Live(), inc.oldest(), inc.unsent(), true
		})
	replies = slices.DeleteFunc(replies, func(r reply) bool { return !r.given })
	depths := make([]inspect.Depth, len(replies))
	for i, r := range replies {
		depths[i] = r.Depth
	}
	return depths
}
