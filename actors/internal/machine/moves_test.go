package machine

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// move is one thing that may happen next.
type move struct {
	says  string
	fault bool // it need not happen
	to    *world
}

// moves are all that may happen next.
func (x *scenario) moves(w *world) []move {
	var all []move
	add := func(fault bool, do func(w *world), says ...any) {
		to := w.clone()
		do(to)
		if to.fault == "" {
			x.settle(to)
		}
		if to.fault == "" {
			x.inspect(to)
		}
		all = append(all, move{fmt.Sprintln(says...), fault, to})
	}
	x.clientMoves(w, add)
	x.ownershipMoves(w, add)
	for i := range w.late {
		add(false, func(w *world) {
			l := w.late[i]
			w.late = slices.Delete(w.late, i, i+1)
			x.land(w, l.part, l.bytes)
		}, "a copy lands", i)
	}
	for i := range w.owners {
		o := &w.owners[i]
		if o.pos < w.parts[o.part].gone+len(w.parts[o.part].log) {
			add(false, func(w *world) { x.read(w, i) }, "owner", i, "reads")
		}
		if o.status == reading {
			x.each(w, add, func(w *world, copied bool) {
				o := &w.owners[i]
				o.epoch, o.status = o.view.state.Epoch()+1, claiming
				x.write(w, o, &record.Takeover{Epoch: o.epoch, Nonce: record.ID{o.nonce}, Window: x.window}, copied)
			}, "owner", i, "appends Takeover")
		}
		if o.status == active {
			x.ownerMoves(w, i, add)
		}
	}
	return all
}

type adder func(fault bool, do func(w *world), says ...any)

// each adds a move that appends a record, once as it should be and once with a
// copy that stays in the network.
func (x *scenario) each(w *world, add adder, do func(w *world, copied bool), says ...any) {
	add(false, func(w *world) { do(w, false) }, says...)
	if w.copies > 0 {
		add(true, func(w *world) { do(w, true) }, append(says, "(a copy stays)")...)
	}
}

func (x *scenario) rootRecord(i, until int) []byte {
	r := &record.ClientRequest{ID: record.ID{0xff, byte(i)}, Until: 1 << 40, Target: x.address(x.roots[i][0]), Method: strconv.Itoa(x.roots[i][1]), Reply: "r"}
	if x.untils != nil {
		r.Until = x.untils[until]
	}
	if x.deadlines {
		r.Deadline = 1
	}
	return record.Encode(r)
}

func (x *scenario) clientMoves(w *world, add adder) {
	for i, root := range x.roots {
		switch bit := uint32(1) << i; {
		case w.sent&bit == 0:
			add(false, func(w *world) { w.sent |= bit; x.land(w, x.actors[root[0]], x.rootRecord(i, 0)) }, "client sends", i)
		case w.resends > 0:
			for u := range max(1, len(x.untils)) {
				add(true, func(w *world) { w.resends--; x.land(w, x.actors[root[0]], x.rootRecord(i, u)) }, "client resends", i, "until", u)
			}
		}
	}
	if w.time < x.ticks && w.sent == 1<<len(x.roots)-1 {
		add(true, func(w *world) { w.time++ }, "time passes")
	}
}

func (x *scenario) ownershipMoves(w *world, add adder) {
	for c := range x.owners {
		if w.crash > 0 && slices.ContainsFunc(w.owners, func(o owner) bool { return o.process == c }) {
			add(true, func(w *world) {
				w.crash--
				w.owners = slices.DeleteFunc(w.owners, func(o owner) bool { return o.process == c })
			}, "crash of process", c)
		}
		for p := range w.parts {
			owned := slices.ContainsFunc(w.owners, func(o owner) bool { return o.part == p })
			has := slices.ContainsFunc(w.owners, func(o owner) bool { return o.part == p && o.process == c })
			if has || owned && w.zombie == 0 {
				continue
			}
			add(owned, func(w *world) {
				if owned {
					w.zombie--
				}
				w.nonce++
				pt := &w.parts[p]
				o := owner{process: c, part: p, nonce: w.nonce, pos: pt.gone + len(pt.log), view: pt.head}
				o.next, o.failed, o.acked = make([]uint64, x.partitions), make([]uint64, x.partitions), make([]uint64, x.partitions)
				w.owners = append(w.owners, o)
			}, "process", c, "claims", p)
			if !owned && x.budget.zombie == 0 {
				break
			}
		}
	}
}

func (x *scenario) ownerMoves(w *world, i int, add adder) {
	o := &w.owners[i]
	v := x.look(w, o)
	for _, actor := range v.State.Actors() {
		for e := range v.State.Queue(actor) {
			d, n := x.decideOn(v, e)
			x.decisionMoves(w, i, e, d, n, add)
		}
	}
	for j := range o.attempts {
		if o.attempts[j].status == runs {
			x.attemptMoves(w, i, j, add)
		}
	}
	if len(o.orphans) > 0 {
		add(false, func(w *world) {
			o := &w.owners[i]
			c := o.orphans[0]
			o.orphans = o.orphans[1:]
			x.land(w, int(c.Partition.Index), record.Encode(&record.Cancel{Child: c.ID}))
		}, "owner", i, "sends Cancel")
	}
	for d := range w.parts {
		x.forwardMoves(w, i, d, add)
	}
	x.timeMoves(w, i, add)
}

func (x *scenario) decisionMoves(w *world, i int, e *Entry, d Decision, n uint64, add adder) {
	resolve := func(outcome record.Outcome, says string) {
		x.each(w, add, func(w *world, copied bool) {
			o := &w.owners[i]
			if outcome == record.DeadlinePassed {
				w.expiries--
			}
			o.attempts = append(o.attempts, attempt{Link: e.Link, status: resolving})
			if outcome == record.DeadlinePassed && w.expiries%2 == 0 {
				x.write(w, o, &record.Expired{Epoch: o.epoch, Links: []record.Link{e.Link}}, copied)
				return
			}
			x.write(w, o, &record.Step{Epoch: o.epoch, Link: e.Link, Outcome: outcome}, copied)
		}, "owner", i, says, e.Link)
	}
	switch d {
	case Run:
		add(false, func(w *world) { x.begin(w, &w.owners[i], w.owners[i].view.state.Lookup(e.ID), n) }, "owner", i, "begins", e.Link)
	case Record:
		x.each(w, add, func(w *world, copied bool) {
			o := &w.owners[i]
			r := &record.Begun{Epoch: o.epoch, Link: e.Link, Attempt: n}
			if x.hasty {
				x.begin(w, o, o.view.state.Lookup(e.ID), n)
			} else {
				o.attempts = append(o.attempts, attempt{Link: e.Link, number: n, status: counting, actor: number(e.Target.Actor)})
			}
			x.write(w, o, r, copied)
		}, "owner", i, "appends Begun of", e.Link)
	case GiveUp:
		resolve(record.Poison, "appends poison of")
	case Drop:
		resolve(record.Cancelled, "appends cancelled of")
	case Expire:
		if w.expiries > 0 {
			resolve(record.DeadlinePassed, "appends expired of")
		}
	case Wait:
	}
	// A deadline that may pass at any time: the owner's clock runs on its own.
	if x.deadlines && w.expiries > 0 && d != Expire && w.time == 0 {
		later := x.look(w, &w.owners[i])
		later.Now = 1
		if d, _ := x.decideOn(later, e); d == Expire {
			resolve(record.DeadlinePassed, "appends expired of")
		}
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

func (x *scenario) forwardMoves(w *world, i, d int, add adder) {
	o := &w.owners[i]
	dest := record.Dest{Partition: name(d)}
	waiting := o.view.state.Waiting(dest)
	if o.failed[d] > 0 {
		add(false, func(w *world) {
			o := &w.owners[i]
			failed := o.failed[d]
			o.failed[d] = 0
			if !x.rewinds {
				o.next[d] = failed
				return
			}
			i := slices.IndexFunc(waiting, func(m Output) bool { return m.Number == failed })
			x.land(w, d, mailOf(o, waiting[i]))
		}, "owner", i, "sends again to", d)
	} else if x.forwards && o.next[d]-1 > o.acked[d] && len(waiting) > 0 && waiting[0].Number < o.next[d] {
		x.each(w, add, func(w *world, copied bool) {
			o := &w.owners[i]
			o.acked[d] = o.next[d] - 1
			x.write(w, o, &record.Forwarded{Epoch: o.epoch, Dest: dest, Number: o.acked[d]}, copied)
		}, "owner", i, "appends Forwarded to", d)
	}
	at := slices.IndexFunc(waiting, func(m Output) bool { return m.Number == o.next[d] })
	if at < 0 {
		return
	}
	m := waiting[at]
	says := []any{"owner", i, "forwards to", d, "number", m.Number}
	add(false, func(w *world) { w.owners[i].next[d]++; x.land(w, d, mailOf(&w.owners[i], m)) }, says...)
	if w.ackLost > 0 {
		add(true, func(w *world) { w.ackLost--; x.land(w, d, mailOf(&w.owners[i], m)) }, append(says, "(ack lost)")...)
	}
	if w.sendFails > 0 && o.failed[d] == 0 {
		add(true, func(w *world) { w.sendFails--; w.owners[i].failed[d] = m.Number; w.owners[i].next[d]++ }, append(says, "(fails)")...)
	}
	if w.copies > 0 {
		add(true, func(w *world) {
			w.copies--
			w.owners[i].next[d]++
			b := mailOf(&w.owners[i], m)
			w.late = append(w.late, lateRecord{d, b})
			x.land(w, d, b)
		}, append(says, "(a copy stays)")...)
	}
}

func mailOf(o *owner, m Output) []byte {
	return record.Encode(&record.Mail{Source: name(o.part), Number: m.Number, Message: m.Message})
}

func (x *scenario) timeMoves(w *world, i int, add adder) {
	o := &w.owners[i]
	for due := range o.view.state.Due() {
		actor := number(due.Actor)
		if due.At > w.time || slices.Contains(o.firing, actor) {
			continue
		}
		x.each(w, add, func(w *world, copied bool) {
			o := &w.owners[i]
			o.firing = append(o.firing, actor)
			r := &record.Fire{Epoch: o.epoch, ID: due.ID, Target: x.address(actor), Name: due.Name, Tick: due.At}
			if due.Name != "" {
				r.ID = o.fresh()
			}
			x.write(w, o, r, copied)
		}, "owner", i, "appends Fire for", due.Actor)
	}
	if x.source > 0 && o.part == 0 && !o.ingesting {
		from := o.view.state.Ingested("s", 0)
		if from >= uint64(x.source) {
			return
		}
		for _, to := range slices.Compact([]uint64{from + 1, uint64(x.source)}) {
			x.each(w, add, func(w *world, copied bool) {
				o := &w.owners[i]
				o.ingesting = true
				r := &record.Ingest{Epoch: o.epoch, Topic: "s", From: from, To: to}
				for n := from; n < to; n++ {
					r.Messages = append(r.Messages, record.Ingested{Offset: n, Call: record.Call{Target: x.address(0), Method: "0"}})
				}
				x.write(w, o, r, copied)
			}, "owner", i, "ingests", from, to)
		}
	}
}

// fresh is a new id of the incarnation.
func (o *owner) fresh() record.ID {
	o.counter++
	return record.ChildID(name(o.part), o.epoch, o.counter)
}
