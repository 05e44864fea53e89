package runtime

import (
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// A call can be revoked by who waits for it (A70): if it has not begun it is
// dropped, and if it runs its context ends; what it ends with is its outcome,
// recorded once as any other. A Cancel has no number and may be lost, or come
// before what it means; so it is sent again for as long as the call is out.

// revokeAgain is the wait before a Cancel is sent again, in milliseconds; it
// doubles up to longestRevoke.
const (
	revokeAgain   = 100
	longestRevoke = 10_000
)

// Revocable makes the call end with the first Await that its context cuts
// short.
func (p *Pending) Revocable() *Pending {
	p.revocable = true
	return p
}

// revoke begins to revoke a call.
func (a *Attempt) revoke(p *Pending) {
	a.mu.Lock()
	p.revoked = true
	a.mu.Unlock()
	if !a.revoking {
		a.revoking = true
		a.inc.agenda.add(appointment{at: a.inc.now, what: dueRevoke, subject: subject{id: a.request.ID}, tick: revokeAgain})
	}
}

// recall sends the Cancels of an attempt that are still worth it.
func (inc *incarnation) recallCalls(x *appointment) {
	a := inc.work[x.id]
	if a == nil || a == resolving {
		return
	}
	a.mu.Lock()
	var out []*Pending
	for _, p := range a.pending {
		if p.revoked {
			out = append(out, p)
		}
	}
	a.mu.Unlock()
	if a.revoking = len(out) > 0; !a.revoking {
		return
	}
	for _, p := range out {
		inc.node.revoke(partitionOf(p.target), p.id)
	}
	inc.agenda.add(appointment{at: inc.now + x.tick, what: dueRevoke, subject: x.subject, tick: min(2*x.tick, longestRevoke)})
}

// revoke sends a Cancel that also ends the context of what runs.
func (n *Node) revoke(to journal.Partition, id record.ID) {
	n.log.Append(to, encode(&record.Cancel{Child: id, Running: true}), func(journal.Place, error) {})
}

// interrupt ends the context of an attempt.
func (a *Attempt) interrupt() {
	a.interrupted.Store(true)
	if a.running {
		a.ctx.Cancel()
	}
}

// Interrupted reports whether who waits for the request has revoked it.
func (a *Attempt) Interrupted() bool { return a.interrupted.Load() }

// cancelled heeds a Cancel that has been applied, whether or not it came too
// late for a request that has not begun.
func (inc *incarnation) cancelled(c *record.Cancel) {
	if a := inc.work[c.Child]; a != nil && a != resolving {
		if c.Running {
			a.interrupt()
		}
		return
	}
	if e := inc.state.Lookup(c.Child); e != nil {
		inc.drop(e)
	}
}
