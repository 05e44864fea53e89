package machine

import (
	"iter"
	"slices"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// Phase is where an owner is with a request.
type Phase uint8

const (
	// Idle: no attempt of this incarnation, nothing in flight.
	Idle Phase = iota
	// Running: an attempt that computes, has writes that are not on record, or
	// has a record in flight (Issued, Write, Begun, Failed, Step).
	Running
	// Parked: an attempt that waits for its children with nothing in its hands
	// (H5, H18); also one whose method returned and that waits for leftovers.
	Parked
	// Resolving: no attempt, but an expired, cancelled, refused or poison is
	// appended and not yet applied (H8).
	Resolving
)

// View is what an owner's decisions rest on: the applied state, its own
// attempts, its clock. It changes nothing.
type View struct {
	State *State
	// Phase tells where this incarnation is with a request.
	Phase func(id record.ID) Phase
	// Suspect tells whether the link was among [State.Suspects] at the owner's
	// own Takeover. nil means none.
	Suspect func(l record.Link) bool
	// MaxAttempts bounds the attempts of a link; 0 means no bound.
	MaxAttempts uint64
	// Now is the owner's estimate of the broker's clock, in milliseconds.
	Now int64
}

// Decision is what to do with a request.
type Decision uint8

const (
	// Wait: nothing now.
	Wait Decision = iota
	// Run the method.
	Run
	// Record a Begun first, and run the method when it is applied (R30).
	Record
	// GiveUp: append a Step Poison.
	GiveUp
	// Expire: append a Step DeadlinePassed, or put it on an Expired.
	Expire
	// Drop: append a Step Cancelled.
	Drop
)

// Decide says what to do with a request, and the number of the attempt it
// would be.
func (v View) Decide(e *Entry) (d Decision, attempt uint64) {
	attempt = e.Tries + 1
	switch {
	case v.Phase(e.ID) != Idle: // H8
		return Wait, attempt
	case len(e.issued) > 0: // the children of a dead attempt come first (R7)
		return Wait, attempt
	case !e.Begun && e.Cancelled:
		return Drop, attempt
	case !e.Begun && e.Deadline > 0 && v.Now >= e.Deadline: // also behind a slow one
		return Expire, attempt
	case !v.admitted(e):
		return Wait, attempt
	case v.MaxAttempts > 0 && e.Tries >= v.MaxAttempts: // R37
		return GiveUp, attempt
	case v.Now < e.RetryAt:
		return Wait, attempt
	case v.Suspect != nil && v.Suspect(e.Link): // R27
		return Record, attempt
	default:
		return Run, attempt
	}
}

// admitted reports whether the order of the queue and the stack of the actor
// let e begin: it is the oldest, or descends from it, and whoever is on top of
// the stack called it and is parked (R9, H5).
func (v View) admitted(e *Entry) bool {
	m := &e.resident.mailbox
	if m.oldest != e && !e.descends(m.oldest.ID) {
		return false
	}
	t := v.top(m, e)
	return t == nil || e.descends(t.ID) && v.parked(t)
}

// parked reports whether nothing of e can touch its actor: it waits with empty
// hands, or does not run at all.
func (v View) parked(e *Entry) bool {
	p := v.Phase(e.ID)
	return p == Idle || p == Parked
}

// stacked reports whether e has a share of its actor: it runs, or its marks in
// the log say that it did. What is only being resolved never ran.
func (v View) stacked(e *Entry) bool {
	if e.marked() {
		return true
	}
	p := v.Phase(e.ID)
	return p == Running || p == Parked
}

// top is the innermost invocation on the actor's stack, beside except.
func (v View) top(m *mailbox, except *Entry) *Entry {
	var top *Entry
	for e := range m.family() {
		if e != except && v.stacked(e) && (top == nil || len(e.Ancestors) >= len(top.Ancestors)) {
			top = e
		}
	}
	return top
}

// family goes through the oldest and its descendants: nobody else can run.
// Without a child out it has none, which spares a look at a long queue.
func (m *mailbox) family() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		if m.oldest == nil || !yield(m.oldest) || len(m.oldest.issued) == 0 {
			return
		}
		for e := m.oldest.next; e != nil; e = e.next {
			if e.descends(m.oldest.ID) && !yield(e) {
				return
			}
		}
	}
}

// Next is the request of an actor to begin now, the oldest that may, with what
// to do: Run, Record or GiveUp. nil means none. It begins one at a time: ask
// again after every applied record, and whenever an attempt parks, begins or
// ends. What is to expire or to be dropped is for [View.Overdue].
func (v View) Next(actor string) (e *Entry, d Decision, attempt uint64) {
	m := v.State.residents[actor]
	if m == nil {
		return nil, Wait, 0
	}
	for e := range m.family() {
		d, n := v.Decide(e)
		if d == Run || d == Record || d == GiveUp {
			return e, d, n
		}
	}
	return nil, Wait, 0
}

// RetryAt is when to ask [View.Next] again although nothing has happened: the
// earliest time that a failed link of an actor waits for, 0 if none does.
func (v View) RetryAt(actor string) int64 {
	m := v.State.residents[actor]
	if m == nil {
		return 0
	}
	var at int64
	for e := range m.family() {
		if e.RetryAt > v.Now && (at == 0 || e.RetryAt < at) {
			at = e.RetryAt
		}
	}
	return at
}

// Overdue goes through the requests of an actor that are to be expired or
// dropped, wherever they are in the queue.
func (v View) Overdue(actor string) iter.Seq2[*Entry, Decision] {
	return func(yield func(*Entry, Decision) bool) {
		for e := range v.State.Queue(actor) {
			d, _ := v.Decide(e)
			if (d == Expire || d == Drop) && !yield(e, d) {
				return
			}
		}
	}
}

// Resumes reports whether an attempt that awaits those children may go on:
// they are answered, as applied, and it is on top of its actor's stack, so
// that no callback of another call of its runs beside it (H6).
func (v View) Resumes(e *Entry, awaited []record.ID) bool {
	for _, c := range e.issued {
		if slices.Contains(awaited, c.ID) {
			return false
		}
	}
	t := v.top(&e.resident.mailbox, nil)
	return t == nil || t == e
}
