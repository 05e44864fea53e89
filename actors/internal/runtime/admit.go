package runtime

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// slot is what an incarnation has of one actor: its attempts, innermost last,
// and its instance.
type slot struct {
	actor    string
	attempts []*Attempt

	instance any
	active   atomic.Bool // Activate has run: said by the method's goroutine
	attached bool        // its cells are in memory
	doomed   bool        // cleared, or not in step with the cells: the instance goes when no attempt is left
	passing  bool        // Passivate runs: nothing may begin

	going bool // passing, and not to be used again

	size       int       // of what it has in memory while it is idle, about
	since      time.Time // idle since
	prev, next *slot     // in the list of idle ones
}

// flying reports whether the innermost attempt has a record in flight.
func (s *slot) flying() bool {
	n := len(s.attempts)
	return n > 0 && s.attempts[n-1].flying
}

// phaseOf is where this incarnation is with a request.
func (inc *incarnation) phaseOf(id record.ID) machine.Phase {
	if a := inc.work[id]; a != nil {
		return a.phase()
	}
	return machine.Idle
}

func (inc *incarnation) suspected(l record.Link) bool {
	if len(inc.suspect) == 0 {
		return false
	}
	_, ok := inc.suspect[l]
	return ok
}

// dispatch looks at the actors that something has happened to: it lets
// attempts go on, and begins what may begin.
func (inc *incarnation) dispatch() {
	inc.runRecorded()
	for i := 0; i < len(inc.touched) && inc.ended == nil; i++ {
		actor := inc.touched[i]
		s := inc.slots[actor]
		if s != nil {
			for _, a := range s.attempts {
				a.advance()
			}
			if s.flying() {
				continue // nothing begins before that is applied
			}
		}
		inc.begin(actor, s)
		if s != nil {
			inc.rest(s)
		}
	}
	clear(inc.touched)
	inc.touched = inc.touched[:0]
}

// begin begins what may begin of an actor, one after the other. s is its slot, nil
// if it has none yet.
func (inc *incarnation) begin(actor string, s *slot) {
	for inc.ended == nil {
		if s != nil && s.doomed {
			inc.rest(s) // nothing more begins on this instance
			s = inc.slots[actor]
		}
		if s != nil && s.passing {
			return // its end touches the actor again
		}
		e, d, n := inc.view.Next(actor)
		if e == nil {
			inc.beginLater(actor)
			return
		}
		if inc.withheld(e) {
			return
		}
		if d == machine.GiveUp {
			inc.poison(e)
			continue
		}
		if s == nil || !s.attached {
			s = inc.atHand(actor)
		}
		if s != nil && s.cover() {
			inc.start(s, e, d, n)
		}
		return // it is on top of its actor's stack, and not parked
	}
}

// beginLater has an actor looked at when a failed link's time has come. It is
// asked for each time that nothing may begin: when the last appointment came,
// children may have been out, and the log's clock may have gone back since.
func (inc *incarnation) beginLater(actor string) {
	if at := inc.view.RetryAt(actor); at > 0 {
		inc.agenda.add(appointment{at: at, what: dueRetry, subject: subject{actor: actor}})
	}
}

// withheld reports whether nothing more is to begin here now: outputs are
// congested, or the partition is handed over, and then only what a running
// invocation waits for begins; or it is behind a latch.
func (inc *incarnation) withheld(e *machine.Entry) bool {
	if inc.congested > 0 {
		inc.stalled[e.Target.Actor] = struct{}{}
		return true
	}
	return inc.leaving && len(e.Ancestors) == 0 || e.Held && inc.latched(e)
}

// strict reports whether a begin goes on record because the type wants it.
func (inc *incarnation) strict(e *machine.Entry) bool {
	return inc.typ.StrictBegin && e.Deadline > 0 && !e.Begun
}

// cover marks the attempts on an actor's stack: while another runs on top they
// must not change the actor. It reports false if one of them got something
// into its hands since it was looked at (H18).
func (s *slot) cover() bool {
	for _, a := range s.attempts {
		if !a.cover() {
			return false
		}
	}
	return true
}

// attempt makes the attempt of a request, which keeps the actor from now on.
func (inc *incarnation) attempt(s *slot, e *machine.Entry, n uint64) *Attempt {
	inc.idle.remove(s)
	a := &Attempt{inc: inc, slot: s, request: e.Request, number: n, workspace: inc.workspace()}
	a.calls, a.active, a.since = e.Calls, 1, inc.local
	s.attempts = append(s.attempts, a)
	inc.work[e.ID] = a
	return a
}

// newSlot makes a slot, of the room of the last one that was dropped.
func (inc *incarnation) newSlot(actor string) *slot {
	s := inc.dropped
	if inc.dropped = nil; s == nil {
		s = new(slot)
	}
	*s = slot{actor: actor, attempts: s.attempts[:0]}
	inc.slots[actor] = s
	return s
}

// record puts a begin on record; the method runs when that is applied, so that
// an attempt which kills its process is counted (H24, R30). It does not run
// where it is applied: what comes next may be another owner's Takeover, and
// whether this process was stopped has not been asked.
func (inc *incarnation) record(a *Attempt, n uint64) {
	a.fly(&record.Begun{Epoch: a.inc.epoch, Link: a.request.Link, Attempt: n}, func() {
		a.request.Begun = true
		inc.recorded = append(inc.recorded, a)
	})
}

// runRecorded runs the methods whose begins are on record.
func (inc *incarnation) runRecorded() {
	for i := 0; i < len(inc.recorded) && inc.ended == nil; i++ {
		inc.run(inc.recorded[i])
	}
	inc.recorded = emptied(inc.recorded)
}

// start begins an attempt, on record or at once.
func (inc *incarnation) start(s *slot, e *machine.Entry, d machine.Decision, n uint64) {
	a := inc.attempt(s, e, n)
	if d == machine.Record || inc.strict(e) {
		inc.record(a, n)
		return
	}
	inc.run(a)
}

// run runs the method, on a goroutine of its own.
func (inc *incarnation) run(a *Attempt) {
	m := inc.typ.methods[a.request.Method]
	if m == nil {
		a.finish(inc.unknown(a.request.Method))
		return
	}
	a.method = m
	a.request.Method = m.name // not of the record it came in
	inc.scope(&a.ctx, inc.limit(a))
	a.running = true
	if a.Interrupted() { // while its begin was put on record
		a.ctx.Cancel()
	}
	inc.engage(a)
}

// limit is when the method's context ends: at the deadline of the request while
// that is ahead, else after the type's StepTimeout (A68).
func (inc *incarnation) limit(a *Attempt) backstay.Instant {
	if d := a.request.Deadline; d > inc.now {
		return inc.within(time.Duration(d-inc.now) * time.Millisecond)
	}
	return inc.within(inc.typ.StepTimeout)
}

// unknown ends a request for a method that this program does not have: another
// that is alive may have it, then the attempt has failed and the partition may
// move (A46); else nobody has it (A3).
func (inc *incarnation) unknown(method string) End {
	for _, m := range inc.node.members() {
		if slices.Contains(m.Methods[inc.typ.Name], method) {
			return End{Retry: &Retry{Reason: fmt.Sprintf("%s has method %q, this owner has not", m.Name, method)}}
		}
	}
	return End{Result: record.Result{Failure: &record.Failure{Code: CodeNoMethod, Message: fmt.Sprintf("nobody has method %q of %q", method, inc.typ.Name)}}}
}

// end takes an attempt off its actor.
func (inc *incarnation) end(a *Attempt) {
	delete(inc.work, a.request.ID)
	s := a.slot
	s.attempts = slices.DeleteFunc(s.attempts, func(x *Attempt) bool { return x == a })
	inc.touch(s.actor)
}
