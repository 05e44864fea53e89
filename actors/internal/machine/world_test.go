package machine

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strconv"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// A world is a few partitions, the processes that own them, and a network that
// loses and repeats. Worlds are values: a move copies what it changes. States
// are kept as snapshots, so that every move of the exploration restores one.

// op is an instruction of a method.
type op struct {
	do     int
	actor  int
	method int
}

const (
	get       = iota // loc = cell
	set              // cell = loc+1, buffered
	setArg           // cell = argument+1, buffered
	tell             // buffered
	call             // nested, not awaited yet
	await            // all calls
	awaitOne         // the oldest call
	end              // the step ends with a value
	tailSelf         // with loc
	tailOther        // with loc
	remind           // reminder of the own actor at time "actor", method
	tellLater        // tell, not before time 1
)

type method []op

// scenario is what happens in a world, and how much may go wrong.
type scenario struct {
	name       string
	partitions int
	owners     int   // processes
	actors     []int // partition of each actor
	methods    []method
	roots      [][2]int // actor, method
	untils     []int64  // of the copies of a root; none: all alike
	window     int64
	ticks      int64
	source     int // messages of a source topic, to method 0 of actor 0
	attempts   uint64
	deadlines  bool // roots and calls have one that may pass
	cancels    bool // owners send Cancel for the children of dead attempts
	forwards   bool
	slow       bool // reading is a move of its own
	budget     budget
	want       func(cells []byte) string
	mutant
}

// budget is how often each fault may still happen.
type budget struct{ crash, zombie, ackLost, sendFails, copies, resends, expiries, errors int8 }

// mutant switches a rule off.
type mutant struct {
	before  func(s *State, r record.Record)
	after   func(s *State, r record.Record, fx *Effects)
	decide  func(v View, e *Entry) (Decision, uint64)
	phase   func(a *attempt, p Phase) Phase
	resumes func(v View, e *Entry, awaited []record.ID) bool
	suspect func(s *State) []record.Link
	hasty   bool // runs a method before its Begun is applied
	rash    bool // appends Failed while an Issued of the attempt is on its way
	leaks   bool // ends a step while calls are out
	rewinds bool // sends only the failed output again
	noFlush bool // waits with writes in its hands
}

type snap struct {
	bytes []byte
	state *State // read only
}

type logged struct {
	bytes []byte
	at    int64
	void  Void
}

type part struct {
	log  []logged // what somebody has not read yet
	gone int      // how many were trimmed
	head *snap    // after the last
}

type attempt struct {
	record.Link
	actor, method int
	arg, loc, buf byte
	dirty         bool
	pc            int
	calls, number uint64
	status        int
	waits         []wait
	tells         []record.Call
	reminders     []record.Reminder
}

const (
	runs      = iota
	flying    // an Issued or Write is in flight
	stepping  // a Step is
	resolving // no attempt, but an end is in flight
	counting  // a Begun is in flight
	failing   // a Failed is
)

type wait struct {
	id   record.ID
	done bool
}

type owner struct {
	process, part int
	epoch         uint64
	nonce         byte
	status        int
	pos           int
	view          *snap
	attempts      []attempt
	next, failed  []uint64 // per partition
	acked         []uint64
	suspects      []record.Link
	orphans       []Child
	counter       uint64
	firing        []int
	ingesting     bool
}

const (
	reading = iota
	claiming
	active
)

type lateRecord struct {
	part  int
	bytes []byte
}

// begin is a ghost: how often a link was begun.
type begin struct {
	record.Link
	times uint64
}

type world struct {
	parts  []part
	owners []owner
	late   []lateRecord
	budget
	time                  int64
	nonce                 byte
	sent, accepted, ended uint32
	landed                []int64 // largest until of a root that landed in time
	begins                []begin
	fired, ingested       uint32
	fault                 string
}

func name(p int) record.Partition { return record.Partition{Type: "t", Index: uint32(p)} }

func (x *scenario) address(actor int) record.Address {
	return record.Address{Type: "t", Actor: strconv.Itoa(actor), Index: uint32(x.actors[actor])}
}

func (x *scenario) start() *world {
	w := &world{parts: make([]part, x.partitions), budget: x.budget, landed: make([]int64, len(x.roots))}
	for p := range w.parts {
		s := New(name(p))
		s.Apply(&record.Takeover{Epoch: 1, Window: x.window}, 0)
		w.parts[p].head = &snap{s.Snapshot(), s}
		o := owner{process: p % x.owners, part: p, epoch: 1, status: active, view: w.parts[p].head}
		o.next, o.failed, o.acked = make([]uint64, x.partitions), make([]uint64, x.partitions), make([]uint64, x.partitions)
		for d := range o.next {
			o.next[d] = 1
		}
		w.owners = append(w.owners, o)
	}
	return w
}

func (w *world) clone() *world {
	c := *w
	c.parts = slices.Clone(w.parts)
	c.owners = slices.Clone(w.owners)
	for i := range c.owners {
		o := &c.owners[i]
		o.attempts = slices.Clone(o.attempts)
		o.next, o.failed, o.acked = slices.Clone(o.next), slices.Clone(o.failed), slices.Clone(o.acked)
		o.firing = slices.Clone(o.firing)
		for j := range o.attempts {
			a := &o.attempts[j]
			a.waits, a.tells, a.reminders = slices.Clone(a.waits), slices.Clip(a.tells), slices.Clip(a.reminders)
		}
	}
	c.late = slices.Clone(w.late)
	c.landed, c.begins = slices.Clone(w.landed), slices.Clone(w.begins)
	return &c
}

var seed = maphash.MakeSeed()

// sum tells worlds apart.
func (w *world) sum(b []byte) (uint64, []byte) {
	n := func(numbers ...int) {
		for _, x := range numbers {
			b = binary.AppendVarint(b, int64(x))
		}
	}
	blob := func(x []byte) { n(len(x)); b = append(b, x...) }
	u := w.budget
	n(int(u.crash), int(u.zombie), int(u.ackLost), int(u.sendFails), int(u.copies), int(u.resends), int(u.expiries), int(u.errors))
	n(int(w.time), int(w.sent), int(w.accepted), int(w.ended), int(w.fired), int(w.ingested))
	for _, until := range w.landed {
		n(int(until))
	}
	for i := range w.begins {
		blob(w.begins[i].ID[:])
		n(int(w.begins[i].Life), int(w.begins[i].Seq), int(w.begins[i].times))
	}
	for i := range w.parts {
		p := &w.parts[i]
		blob(p.head.bytes)
		n(len(p.log))
		for _, l := range p.log {
			blob(l.bytes)
			n(int(l.at))
		}
	}
	for i := range w.owners {
		o := &w.owners[i]
		n(o.process, o.part, int(o.epoch), o.status, o.pos-w.parts[o.part].gone, int(o.counter), len(o.attempts), len(o.firing), boolean(o.ingesting))
		blob(o.view.bytes)
		for d := range o.next {
			n(int(o.next[d]), int(o.failed[d]), int(o.acked[d]))
		}
		for _, l := range o.suspects {
			blob(l.ID[:])
			n(int(l.Seq))
		}
		n(len(o.orphans))
		for j := range o.attempts {
			a := &o.attempts[j]
			blob(a.ID[:])
			n(int(a.Life), int(a.Seq), a.method, int(a.arg), int(a.loc), int(a.buf), boolean(a.dirty), a.pc, int(a.calls), int(a.number), a.status, len(a.tells), len(a.reminders))
			for _, x := range a.waits {
				blob(x.id[:])
				n(boolean(x.done))
			}
		}
	}
	for _, l := range w.late {
		n(l.part)
		blob(l.bytes)
	}
	return maphash.Bytes(seed, b), b
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (w *world) fail(what string) {
	if w.fault == "" {
		w.fault = what
	}
}

// effective reports whether the owner's epoch is that of the head of its log.
func (w *world) effective(o *owner) bool {
	return o.status == active && o.epoch == w.parts[o.part].head.state.Epoch()
}

func (o *owner) find(id record.ID) int {
	return slices.IndexFunc(o.attempts, func(a attempt) bool { return a.ID == id })
}

func (o *owner) drop(i int) { o.attempts = slices.Delete(o.attempts, i, i+1) }

// look is the view of an owner.
func (x *scenario) look(w *world, o *owner) View {
	return View{
		State: o.view.state, MaxAttempts: x.attempts, Now: w.time,
		Suspect: func(l record.Link) bool { return slices.Contains(o.suspects, l) },
		Phase: func(id record.ID) Phase {
			i := o.find(id)
			if i < 0 {
				return Idle
			}
			a := &o.attempts[i]
			p := x.phaseOf(a)
			if x.phase != nil {
				p = x.phase(a, p)
			}
			return p
		},
	}
}

func (x *scenario) phaseOf(a *attempt) Phase {
	if a.status == resolving {
		return Resolving
	}
	if a.status == runs && a.waiting(x) && (!a.dirty || x.noFlush) {
		return Parked
	}
	return Running
}

// waiting reports whether the next instruction is an await.
func (a *attempt) waiting(x *scenario) bool {
	do := x.methods[a.method][a.pc].do
	return do == await || do == awaitOne
}

func (x *scenario) decideOn(v View, e *Entry) (Decision, uint64) {
	if x.decide != nil {
		return x.decide(v, e)
	}
	d, n := v.Decide(e)
	sound := x.before == nil && x.after == nil && x.phase == nil && x.resumes == nil
	if sound && (d == Run || d == Record || d == GiveUp) != (v.Phase(e.ID) == Idle && len(e.issued) == 0 && longhand(v, e)) && !v.overdue(e) {
		panic("the short way and the long way to decide differ")
	}
	return d, n
}

func (v View) overdue(e *Entry) bool {
	return !e.Begun && (e.Cancelled || e.Deadline > 0 && v.Now >= e.Deadline)
}

// longhand is what admission says, word by word: over all entries of the actor.
func longhand(v View, e *Entry) bool {
	var oldest, top *Entry
	for k := range v.State.Queue(e.Target.Actor) {
		if oldest == nil {
			oldest = k
		}
		p := v.Phase(k.ID)
		on := len(k.issued) > 0 || k.Held || k.Calls > 0 || p == Running || p == Parked
		if k != e && on && (top == nil || len(k.Ancestors) >= len(top.Ancestors)) {
			top = k
		}
	}
	if e != oldest && !e.descends(oldest.ID) {
		return false
	}
	return top == nil || e.descends(top.ID) && v.Phase(top.ID) != Running
}

func (x *scenario) mayResume(w *world, o *owner, a *attempt) bool {
	if a.status != runs || !a.waiting(x) || a.dirty && !x.noFlush {
		return false
	}
	var awaited []record.ID
	for i, y := range a.waits {
		if i > 0 && x.methods[a.method][a.pc].do == awaitOne {
			break
		}
		if !y.done {
			return false
		}
		awaited = append(awaited, y.id)
	}
	e := o.view.state.Lookup(a.ID)
	if e == nil {
		return false
	}
	if x.resumes != nil {
		return x.resumes(x.look(w, o), e, awaited)
	}
	return x.look(w, o).Resumes(e, awaited)
}
