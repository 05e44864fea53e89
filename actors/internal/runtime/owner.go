package runtime

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// owner is a partition for as long as this node is assigned it: one claim
// after another.
type owner struct {
	node      *Node
	typ       *Type
	partition journal.Partition
	self      record.Partition
	assigned  time.Time
	draining  chan struct{} // closed: begin nothing more, then go
	ended     chan struct{} // closed: the goroutine is gone

	mu      sync.Mutex
	phase   Phase
	problem error // why it is not owned
	hinders error // what keeps actors from their work though it is
	current *incarnation
}

func newOwner(n *Node, t *Type, p journal.Partition) *owner {
	return &owner{
		node: n, typ: t, partition: p, self: record.Partition{Type: p.Type, Index: p.Index}, assigned: time.Now(),
		draining: make(chan struct{}), ended: make(chan struct{}), phase: PhaseClaiming,
	}
}

// errDrained is why an incarnation ends that was asked to.
var errDrained = errors.New("runtime: handed over")

// refusal is an error that another claim will not mend.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// run claims and keeps the partition until it is drained or ctx ends. Nobody
// gives up while assigned: of two claims of one epoch the loser may be the
// only one left (H19). But whoever has lost the partition asks first; a claim
// that has failed before its Takeover was written has lost nothing.
func (o *owner) run(ctx context.Context) {
	defer close(o.ended)
	var lost backstay.Instant // when what was last taken over was; 0: nothing was
	for failures := 0; ; failures++ {
		inc := newIncarnation(o)
		o.enter(PhaseClaiming, inc)
		err := inc.live(ctx)
		if inc.nonce != (record.ID{}) {
			lost = backstay.Now()
		}
		o.left(inc, err)
		if errors.Is(err, errDrained) || ctx.Err() != nil {
			return
		}
		if inc.ownedFor() > settledAfter {
			failures = 0
		}
		if !o.pause(ctx, o.backoff(err, failures)) || !o.confirmed(ctx, lost) {
			return
		}
	}
}

// settledAfter is how long a partition is owned before a loss counts as the
// first again.
const settledAfter = 10 * time.Second

// refusedAgain is how often a partition that must not be owned is looked at
// again: a newer program, or a person, may have mended it.
const refusedAgain = 30 * time.Second

// backoff is the wait before the next claim, with jitter, so that two who
// contend do not go on in step.
func (o *owner) backoff(err error, failures int) time.Duration {
	if errors.As(err, new(refusal)) {
		return refusedAgain
	}
	const most = 50
	longest := o.node.config.ClaimBackoff * time.Duration(min(1<<min(failures, 10), most))
	return time.Duration(rand.Int64N(int64(longest) + 1))
}

// pause waits, and reports whether to go on.
func (o *owner) pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-o.draining:
	case <-ctx.Done():
	}
	return false
}

// enter notes where the owner is.
func (o *owner) enter(p Phase, inc *incarnation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.phase, o.current = p, inc
	if p == PhaseOwning {
		o.problem = nil
	}
}

// hinder notes what keeps actors from their work, nil when nothing does.
func (o *owner) hinder(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hinders = err
}

// left notes how an incarnation ended, and tells.
func (o *owner) left(inc *incarnation, err error) {
	phase, kind := PhaseWaiting, ClaimFailed
	switch {
	case errors.As(err, new(refusal)):
		phase, kind = PhaseRefused, ClaimRefused
	case !inc.owned.IsZero():
		kind = PartitionLost
	}
	if errors.Is(err, errDrained) || errors.Is(err, ErrStopped) {
		phase, err = PhaseDraining, nil // it was not taken away
	}
	o.mu.Lock()
	o.phase, o.current, o.hinders = phase, nil, nil
	o.problem = err
	o.mu.Unlock()
	if err == nil && kind == ClaimFailed {
		return // it was not wanted any more
	}
	o.node.report(Event{Kind: kind, Partition: o.self, Epoch: inc.epoch, Err: err})
}

// drain asks the owner to begin nothing more and to go when all has ended.
func (o *owner) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case <-o.draining:
		return
	default:
	}
	close(o.draining)
	if o.phase == PhaseOwning {
		o.phase = PhaseDraining
	}
	if o.current != nil {
		o.current.post(drainEvent{})
	}
}

func (o *owner) mustDrain() bool {
	select {
	case <-o.draining:
		return true
	default:
		return false
	}
}
