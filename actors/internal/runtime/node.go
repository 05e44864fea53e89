package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// Node is this process: owner of partitions, and client. It is safe for
// concurrent use.
type Node struct {
	config  Config
	log     journal.Log
	types   map[string]*Type
	address string // where answers for this process go
	mute    func() // closes address
	clock   clock
	counts  sync.Map // type: uint32
	clients clients

	membership journal.Membership // nil: a mere client
	cancel     context.CancelFunc // of all owners
	stopping   chan struct{}
	vacant     chan struct{} // holds one: an owner has gone
	assigning  sync.WaitGroup

	mu        sync.Mutex
	owners    map[journal.Partition]*owner
	assigned  bool // owners are what was assigned
	stopped   bool
	lingering []*incarnation // ended, with methods that run on
}

// Open joins the members, starts to own what is assigned, and can call at once.
func Open(ctx context.Context, log journal.Log, c Config) (*Node, error) {
	n := &Node{
		log: log, types: make(map[string]*Type), stopping: make(chan struct{}), vacant: make(chan struct{}, 1), owners: make(map[journal.Partition]*owner),
	}
	n.config = c.withDefaults()
	if err := n.host(ctx); err != nil {
		return nil, err
	}
	n.clients.node = n
	n.clients.waiting = make(map[record.ID]*caller)
	n.clients.gone = make(chan struct{})
	var err error
	if n.address, n.mute, err = log.Listen(ctx, n.hear); err != nil {
		return nil, fmt.Errorf("runtime: listening for answers: %w", err)
	}
	if len(n.types) == 0 {
		return n, nil
	}
	n.membership, err = log.Join(ctx, journal.Member{Name: c.Name, Methods: n.methods()})
	if err != nil {
		n.mute()
		return nil, fmt.Errorf("runtime: joining: %w", err)
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	n.cancel = cancel
	n.assigning.Go(func() { n.assign(life) })
	return n, nil
}

// tracer is a log that is told which methods run: that of a simulation.
type tracer interface{ Trace(t Type) Type }

// host takes the types in, and asks for the number of their partitions.
func (n *Node) host(ctx context.Context) error {
	for i := range n.config.Types {
		t := n.config.Types[i]
		if simulated, ok := n.log.(tracer); ok {
			t = simulated.Trace(t)
		}
		t.Settings = t.withDefaults()
		switch {
		case t.Name == "":
			return errors.New("runtime: a type has no name")
		case n.types[t.Name] != nil:
			return fmt.Errorf("runtime: type %q is given twice", t.Name)
		case len(t.Methods) == 0:
			return fmt.Errorf("runtime: type %q has no methods", t.Name)
		}
		for name, m := range t.Methods {
			if (m.Run == nil) == (m.Read == nil) {
				return fmt.Errorf("runtime: method %q of type %q needs exactly one of Run and Read", name, t.Name)
			}
		}
		if _, err := n.count(ctx, t.Name); err != nil {
			return err
		}
		n.types[t.Name] = &t
	}
	return nil
}

// methods are those that this process announces.
func (n *Node) methods() map[string][]string {
	all := make(map[string][]string, len(n.types))
	for name, t := range n.types {
		all[name] = slices.Sorted(maps.Keys(t.Methods))
	}
	return all
}

// members are the processes that are alive, as far as is known.
func (n *Node) members() []journal.Member {
	if n.membership == nil {
		return nil
	}
	return n.membership.Members()
}

// count is the number of partitions of a type, fixed for ever and so asked for
// once.
func (n *Node) count(ctx context.Context, actorType string) (uint32, error) {
	if known, ok := n.counts.Load(actorType); ok {
		c, _ := known.(uint32)
		return c, nil
	}
	c, err := n.log.Count(ctx, actorType)
	if err == nil && c == 0 {
		err = journal.ErrNoType
	}
	if err != nil {
		return 0, fmt.Errorf("runtime: type %q: %w", actorType, err)
	}
	n.counts.Store(actorType, c)
	return c, nil
}

// countFor bounds the question from within a method.
const countFor = 10 * time.Second

// countNow is count for those who have no context.
func (n *Node) countNow(actorType string) (uint32, error) {
	if known, ok := n.counts.Load(actorType); ok {
		c, _ := known.(uint32)
		return c, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), countFor)
	defer cancel()
	return n.count(ctx, actorType)
}

// counted is the number of partitions of a type that is hosted here.
func (n *Node) counted(actorType string) uint32 {
	known, _ := n.counts.Load(actorType)
	c, _ := known.(uint32)
	return c
}

// Now is the time by the log's clock as far as it is known here, in
// milliseconds since 1970.
func (n *Node) Now() int64 { return n.clock.now() }

// report tells the observer. Its panics are nobody's business.
func (n *Node) report(e Event) {
	if n.config.Observe == nil {
		return
	}
	defer func() { _ = recover() }()
	n.config.Observe(e)
}
