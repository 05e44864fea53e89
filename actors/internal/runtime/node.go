package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
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
	sources journal.Sources // the same, if it has them
	address string          // where answers for this process go
	mute    func()          // closes address
	clock   clock
	places  places
	clients clients
	letters atomic.Uint64 // dead ones that were written
	told    repeated

	membership journal.Membership // nil: a mere client
	wary       wary               // the same, if it counts pauses
	sure       sure               // the same, if it can be asked
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
	n.sources, _ = log.(journal.Sources)
	if simulated, ok := log.(timekeeper); ok {
		n.clock.skew = simulated.Skew
	}
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
	if c.Opened != nil {
		c.Opened(n)
	}
	if len(n.types) == 0 {
		return n, nil
	}
	n.membership, err = log.Join(ctx, journal.Member{Name: c.Name, Methods: n.methods()})
	if err != nil {
		n.mute()
		return nil, fmt.Errorf("runtime: joining: %w", err)
	}
	n.wary, _ = n.membership.(wary)
	n.sure, _ = n.membership.(sure)
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	n.cancel = cancel
	n.assigning.Go(func() { n.assign(life) })
	return n, nil
}

// timekeeper is a log that sets this process's clock: that of a simulation.
type timekeeper interface{ Skew() time.Duration }

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
		if err := t.ingestible(n.sources); err != nil {
			return err
		}
		for name, m := range t.Methods {
			if (m.Run == nil) == (m.Read == nil) {
				return fmt.Errorf("runtime: method %q of type %q needs exactly one of Run and Read", name, t.Name)
			}
		}
		if _, err := n.count(ctx, t.Name); err != nil {
			return err
		}
		t.methods = make(map[string]*Method, len(t.Methods))
		for name, m := range t.Methods {
			m.name = name
			t.methods[name] = &m
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

// Now is the time by the log's clock as far as it is known here, in
// milliseconds since 1970.
func (n *Node) Now() int64 { return n.clock.now() }
