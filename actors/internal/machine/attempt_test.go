package machine

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// begin starts an attempt.
func (x *scenario) begin(w *world, o *owner, e *Entry, n uint64) {
	x.judgeBegin(w, o, e)
	a := attempt{Link: e.Link, actor: number(e.Target.Actor), method: number(e.Method), calls: e.Calls, number: n}
	if len(e.Args) > 0 {
		a.arg = e.Args[0]
	}
	o.attempts = append(o.attempts, a)
	x.run(w, o, len(o.attempts)-1)
}

// run goes on to the next instruction that needs a record or an answer.
func (x *scenario) run(w *world, o *owner, i int) {
	a := &o.attempts[i]
	for ; ; a.pc++ {
		switch p := x.methods[a.method][a.pc]; p.do {
		case get:
			a.loc = cellOf(o.view.state, a.actor)
			if a.dirty {
				a.loc = a.buf
			} else if w.effective(o) && a.loc != cellOf(w.parts[o.part].head.state, a.actor) {
				w.fail("P8: a stale cell")
			}
		case set:
			a.dirty, a.buf = true, a.loc+1
		case setArg:
			a.dirty, a.buf = true, a.arg+1
		case tell:
			a.tells = append(a.tells, record.Call{Target: x.address(p.actor), Method: strconv.Itoa(p.method)})
		case tellLater:
			a.tells = append(a.tells, record.Call{Target: x.address(p.actor), Method: strconv.Itoa(p.method), NotBefore: 1})
		case remind:
			a.reminders = append(a.reminders, record.Reminder{Name: "r", Next: int64(p.actor), Method: strconv.Itoa(p.method)})
		case await, awaitOne:
			if len(a.waits) > 0 {
				return
			}
		default:
			return
		}
	}
}

func cellOf(s *State, actor int) byte {
	if v, ok := s.Cell(strconv.Itoa(actor), "v"); ok {
		return v[0]
	}
	return 0
}

func (x *scenario) resume(w *world, o *owner, i int) {
	a := &o.attempts[i]
	if x.methods[a.method][a.pc].do == awaitOne {
		a.waits = a.waits[1:]
	} else {
		a.waits = nil
	}
	a.pc++
	x.run(w, o, i)
}

// delta takes what is in the hands of the attempt.
func (a *attempt) delta() record.Delta {
	d := record.Delta{Reminders: a.reminders}
	if a.dirty {
		d.Cells = []record.Cell{{Name: "v", Value: []byte{a.buf}}}
	}
	a.dirty, a.reminders = false, nil
	return d
}

func (x *scenario) attemptMoves(w *world, i, j int, add adder) {
	o := &w.owners[i]
	a := &o.attempts[j]
	if x.slow && x.mayResume(w, o, a) {
		add(false, func(w *world) { x.resume(w, &w.owners[i], j) }, "owner", i, "resumes", a.Link)
	}
	if w.errors > 0 {
		x.each(w, add, func(w *world, copied bool) {
			w.errors--
			o := &w.owners[i]
			o.attempts[j].status = failing
			x.write(w, o, &record.Failed{Epoch: o.epoch, Link: a.Link, Attempt: a.number}, copied)
		}, "owner", i, "appends Failed of", a.Link)
	}
	if x.rash && w.errors > 0 && x.methods[a.method][a.pc].do == call {
		add(true, func(w *world) { x.overtake(w, i, j) }, "owner", i, "appends Failed of", a.Link, "before its Issued has landed")
	}
	switch x.methods[a.method][a.pc].do {
	case await, awaitOne:
		if a.dirty && !x.noFlush {
			x.each(w, add, func(w *world, copied bool) { x.flush(w, i, j, copied) }, "owner", i, "appends Write of", a.Link)
		}
	case call:
		x.each(w, add, func(w *world, copied bool) { x.issue(w, i, j, copied) }, "owner", i, "appends Issued of", a.Link)
	case end, tailSelf, tailOther:
		if len(a.waits) == 0 || x.leaks {
			x.each(w, add, func(w *world, copied bool) { x.finishStep(w, i, j, copied) }, "owner", i, "appends Step of", a.Link)
		}
	}
}

func (x *scenario) flush(w *world, i, j int, copied bool) {
	o := &w.owners[i]
	a := &o.attempts[j]
	a.status = flying
	r := &record.Write{Epoch: o.epoch, Link: a.Link, Call: a.calls, Delta: a.delta()}
	a.calls++
	x.write(w, o, r, copied)
}

func (x *scenario) issue(w *world, i, j int, copied bool) {
	o := &w.owners[i]
	x.write(w, o, x.issued(o, j), copied)
}

// issued makes consecutive calls with one record (A85).
func (x *scenario) issued(o *owner, j int) record.Record {
	a := &o.attempts[j]
	r := &record.Issued{Epoch: o.epoch, Link: a.Link, Call: a.calls, Delta: a.delta()}
	for p := x.methods[a.method][a.pc]; p.do == call; p = x.methods[a.method][a.pc] {
		c := record.Call{ID: o.fresh(), Target: x.address(p.actor), Method: strconv.Itoa(p.method), Name: fmt.Sprint(a.pc), Args: argument(a.loc)}
		if x.deadlines {
			c.Deadline = 1
		}
		r.Children = append(r.Children, c)
		a.waits = append(a.waits, wait{id: c.ID})
		a.pc++
	}
	a.calls++
	a.status = flying
	return r
}

// overtake has an attempt fail while its Issued is on its way: Failed lands
// first.
func (x *scenario) overtake(w *world, i, j int) {
	w.errors--
	o := &w.owners[i]
	w.late = append(w.late, lateRecord{o.part, record.Encode(x.issued(o, j))})
	a := &o.attempts[j]
	a.status = failing
	x.write(w, o, &record.Failed{Epoch: o.epoch, Link: a.Link, Attempt: a.number}, false)
}

func argument(b byte) []byte {
	if b == 0 {
		return nil
	}
	return []byte{b}
}

func (x *scenario) finishStep(w *world, i, j int, copied bool) {
	o := &w.owners[i]
	a := &o.attempts[j]
	p := x.methods[a.method][a.pc]
	r := &record.Step{Epoch: o.epoch, Link: a.Link, Delta: a.delta()}
	for _, t := range a.tells {
		t.ID = o.fresh()
		r.Tells = append(r.Tells, t)
	}
	switch p.do {
	case tailSelf:
		r.Outcome, r.Tail = record.TailSelf, &record.Call{Method: strconv.Itoa(p.method), Args: argument(a.loc)}
	case tailOther:
		r.Outcome, r.Tail = record.TailOther, &record.Call{Target: x.address(p.actor), Method: strconv.Itoa(p.method), Args: argument(a.loc)}
	}
	a.status = stepping
	x.write(w, o, r, copied)
}

// judgeBegin checks what must hold when an attempt begins.
func (x *scenario) judgeBegin(w *world, o *owner, e *Entry) {
	x.countBegin(w, o, e)
	if !w.effective(o) {
		return
	}
	head := w.parts[o.part].head.state.Lookup(e.ID)
	if head == nil || head.Link != e.Link {
		w.fail("P1: " + e.String() + " begins though it is done")
		return
	}
	if w.nested(e.ID) {
		w.fail("P3: " + e.String() + " begins while a child of an earlier attempt lives")
	}
	for i := range w.owners {
		if q := &w.owners[i]; w.effective(q) && slices.ContainsFunc(q.attempts, func(a attempt) bool { return a.ID == e.ID && a.status != counting }) {
			w.fail("P2: " + e.String() + " begins twice")
		}
	}
	for other := range w.parts[o.part].head.state.Queue(e.Target.Actor) {
		if other.ID != e.ID && (other.Held || other.Calls > 0) && !head.descends(other.ID) {
			w.fail("P7: " + e.String() + " begins while another keeps the actor")
		}
	}
}

// countBegin counts begins of live links, those of zombies included.
func (x *scenario) countBegin(w *world, o *owner, e *Entry) {
	head := w.parts[o.part].head.state.Lookup(e.ID)
	if x.attempts == 0 || head == nil || head.Link != e.Link {
		return
	}
	i := slices.IndexFunc(w.begins, func(b begin) bool { return b.ID == e.ID })
	if i < 0 {
		i = len(w.begins)
		w.begins = append(w.begins, begin{Link: e.Link})
	}
	if w.begins[i].Link != e.Link {
		w.begins[i] = begin{Link: e.Link}
	}
	if w.begins[i].times++; w.begins[i].times > x.attempts+1 {
		w.fail(fmt.Sprintf("P9: %v begins %d times", e.Link, w.begins[i].times))
	}
}
