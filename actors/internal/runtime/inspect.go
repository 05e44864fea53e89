package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/backstay-go/backstay/actors/inspect"
	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// Phase is where the owner of a partition is.
type Phase = inspect.Phase

// The phases of an owner.
const (
	PhaseClaiming = inspect.Claiming
	PhaseOwning   = inspect.Owning
	PhaseDraining = inspect.Draining
	PhaseWaiting  = inspect.Waiting
	PhaseRefused  = inspect.Refused
)

func sortable(p record.Partition) string { return fmt.Sprintf("%s/%010d", p.Type, p.Index) }

// Inspect tells how the node's partitions are, ordered by name. Owners that do
// not answer before ctx ends are told of as far as that goes without them.
func (n *Node) Inspect(ctx context.Context) inspect.Node {
	n.mu.Lock()
	i := inspect.Node{Name: n.config.Name, Stopped: n.stopped, DeadLetters: n.letters.Load()}
	n.mu.Unlock()
	for _, m := range n.members() {
		i.Members = append(i.Members, m.Name)
	}
	n.clients.mu.Lock()
	i.Calls = n.clients.count
	n.clients.mu.Unlock()
	i.Partitions = survey(ctx, n.all(), (*owner).inspect, (*incarnation).inspect)
	return i
}

// inspect tells what is known without the loop.
func (o *owner) inspect() inspect.Partition {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := inspect.Partition{Type: o.self.Type, Index: o.self.Index, Phase: o.phase}
	if o.problem != nil {
		p.Error = o.problem.Error()
	}
	return p
}

// inspect tells the rest.
func (inc *incarnation) inspect(p *inspect.Partition) {
	p.Epoch, p.Next, p.Takeover = inc.epoch, inc.next, inc.claim
	p.Requests, p.Oldest = inc.state.Live(), inc.oldest()
	for _, actor := range inc.state.Actors() {
		p.Actors++
		if d := inc.state.Depth(actor); d > p.Depth {
			p.Depth, p.Deepest = d, actor
		}
	}
	p.Outputs = inc.unsent()
	for _, s := range inc.slots {
		if s.active.Load() {
			p.Instances++
		}
		for _, a := range s.attempts {
			p.Running = append(p.Running, a.inspect())
		}
	}
	slices.SortFunc(p.Running, func(a, b inspect.Invocation) int {
		return cmp.Or(cmp.Compare(b.Since, a.Since), cmp.Compare(a.ID, b.ID))
	})
	p.Methods = len(p.Running)
	p.Running = p.Running[:min(p.Methods, inspect.MaxRunning)]
}

// oldest is the age of the oldest request.
func (inc *incarnation) oldest() time.Duration {
	since, some := inc.state.Oldest(func(e *machine.Entry) bool { return e.Held && inc.latched(e) })
	if !some {
		return 0
	}
	return max(time.Duration(inc.now-since)*time.Millisecond, 0)
}

// unsent counts the outputs that wait to be forwarded.
func (inc *incarnation) unsent() (n int) {
	for _, s := range inc.senders {
		n += len(s.waiting)
	}
	return n
}

func (a *Attempt) inspect() inspect.Invocation {
	i := inspect.Invocation{
		ID: a.request.Target.Actor, Method: a.request.Method, RequestID: a.request.ID.String(), Link: a.request.Seq,
		Attempt: a.number, Since: a.inc.sinceLocal(a.since),
	}
	a.mu.Lock()
	pending := slices.Clone(a.pending)
	a.mu.Unlock()
	for _, p := range pending { // the membership is asked, which has locks of its own
		i.Waiting = append(i.Waiting, p.label()+a.inc.node.unhosted(p.target.Type))
	}
	return i
}
