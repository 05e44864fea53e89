package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// Phase is where the owner of a partition is.
type Phase string

// The phases of an owner.
const (
	PhaseClaiming Phase = "claiming"
	PhaseOwning   Phase = "owning"
	PhaseDraining Phase = "draining"
	PhaseWaiting  Phase = "waiting" // to claim again
	PhaseRefused  Phase = "refused" // this program must not own it
)

// Inspection is how a node is.
type Inspection struct {
	Name       string
	Partitions []PartitionInspection
	// Calls are the roots of this process that wait for an answer.
	Calls int
}

// PartitionInspection is how a partition of this node is.
type PartitionInspection struct {
	Partition record.Partition
	Phase     Phase
	Epoch     uint64
	// Next is the offset of the next record to apply.
	Next int64
	// Requests are those in mailboxes, Actors the actors that have some.
	Requests, Actors int
	// Deepest is the actor with the most requests, Depth how many.
	Deepest string
	Depth   int
	// Oldest is how long the oldest request has waited or run.
	Oldest time.Duration
	// Running are the attempts there are, with what each waits for.
	Running []AttemptInspection
	// Outputs are the messages that wait to be forwarded.
	Outputs int
	// Instances are the activated actors.
	Instances int
	Claim     ClaimTimes
	Err       error
}

// ClaimTimes are the phases of the last claim that succeeded (A57).
type ClaimTimes struct {
	// Assigned is when the partition was assigned.
	Assigned time.Time
	// Snapshot, Replay and Takeover are how long it took to load the snapshot,
	// to read to the end, and to apply the own Takeover.
	Snapshot, Replay, Takeover time.Duration
	// Records were replayed.
	Records int
}

// AttemptInspection is a method that runs.
type AttemptInspection struct {
	Actor, Method string
	ID            record.ID
	Seq, Attempt  uint64
	Since         time.Duration
	// Waiting are the calls it waits for.
	Waiting []string
}

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

func sortable(p record.Partition) string { return fmt.Sprintf("%s/%010d", p.Type, p.Index) }

// Inspect tells how the node's partitions are, ordered by name. Owners that do
// not answer before ctx ends are told of as far as that goes without them.
func (n *Node) Inspect(ctx context.Context) Inspection {
	i := Inspection{Name: n.config.Name}
	n.clients.mu.Lock()
	i.Calls = n.clients.count
	n.clients.mu.Unlock()
	for _, o := range n.all() {
		if !o.hasEnded() {
			i.Partitions = append(i.Partitions, o.inspect(ctx))
		}
	}
	return i
}

// inspect asks the loop.
func (o *owner) inspect(ctx context.Context) PartitionInspection {
	o.mu.Lock()
	p := PartitionInspection{Partition: o.self, Phase: o.phase, Err: o.problem}
	inc := o.current
	o.mu.Unlock()
	if inc == nil || p.Phase != PhaseOwning && p.Phase != PhaseDraining {
		return p
	}
	q := &question{into: p, done: make(chan struct{})}
	inc.post(q)
	select {
	case <-q.done:
		return q.into
	case <-inc.gone:
	case <-ctx.Done():
	}
	return p
}

// question is an inspection on its way to a loop.
type question struct {
	into PartitionInspection
	done chan struct{}
}

func (q *question) happen(inc *incarnation) {
	defer close(q.done)
	p := &q.into
	p.Epoch, p.Next, p.Claim = inc.epoch, inc.next, inc.claim
	p.Requests = inc.state.Live()
	var oldest int64
	for _, actor := range inc.state.Actors() {
		p.Actors++
		if d := inc.state.Depth(actor); d > p.Depth {
			p.Depth, p.Deepest = d, actor
		}
		for e := range inc.state.Queue(actor) {
			if oldest == 0 || e.Queued < oldest {
				oldest = e.Queued
			}
			break
		}
	}
	if oldest > 0 {
		p.Oldest = max(time.Duration(inc.now-oldest)*time.Millisecond, 0)
	}
	for _, s := range inc.senders {
		p.Outputs += len(s.waiting)
	}
	for _, s := range inc.slots {
		if s.active {
			p.Instances++
		}
		for _, a := range s.attempts {
			p.Running = append(p.Running, a.inspect())
		}
	}
	slices.SortFunc(p.Running, func(a, b AttemptInspection) int {
		return cmp.Or(cmp.Compare(b.Since, a.Since), cmp.Compare(a.Actor, b.Actor))
	})
}

func (a *Attempt) inspect() AttemptInspection {
	i := AttemptInspection{
		Actor: a.request.Target.Actor, Method: a.request.Method, ID: a.request.ID, Seq: a.request.Seq,
		Attempt: a.number, Since: a.inc.sinceLocal(a.since),
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.pending {
		i.Waiting = append(i.Waiting, p.label)
	}
	return i
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
		if o.phase != PhaseOwning {
			h.Ready = false
			if o.problem != nil {
				h.Problems = append(h.Problems, Problem{Partition: o.self, Err: o.problem})
			}
		}
		o.mu.Unlock()
	}
	return h
}
