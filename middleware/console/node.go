package console

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/backstay-go/backstay/actors/inspect"
)

// ActorSource is what the page's section of actors shows: an actors.Node.
type ActorSource interface {
	Inspect(ctx context.Context) inspect.Node
}

// node is a source of actors under its name.
type node struct {
	name   string
	source ActorSource
}

// AddActors shows a node of actors under name: its partitions, what waits in
// them, what runs and for whom it waits. Make the node with the console's
// Observer, and its notable events are shown, too. The error says that the name
// is taken; see [Console.Remove].
//
//	node, err := actors.Open(ctx, actors.Config{Observer: page.Observer()}, log, hostings...)
//	...
//	err = page.AddActors("orders", node)
func (c *Console) AddActors(name string, source ActorSource) error {
	if source == nil {
		return fmt.Errorf("console: %q has no node", name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.free(name); err != nil {
		return err
	}
	c.nodes = append(slices.Clip(c.nodes), node{name, source}) // a look that is under way keeps its own
	c.sample = nil
	return nil
}

// nodePatience is how long a look waits for partitions that are busy.
const nodePatience = 500 * time.Millisecond

// lookAt asks the nodes how they are; nil if there are none.
func lookAt(nodes []node, rows int) *Actors {
	if len(nodes) == 0 {
		return nil
	}
	a := &Actors{Types: []ActorType{}, Trouble: []ActorPartition{}, Running: []ActorMethod{}}
	for _, n := range nodes {
		ctx, cancel := context.WithTimeout(context.Background(), nodePatience)
		state := n.source.Inspect(ctx)
		cancel()
		a.add(n.name, &state)
	}
	a.settle(rows)
	return a
}
