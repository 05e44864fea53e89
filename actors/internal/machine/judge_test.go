package machine

import (
	"fmt"
	"slices"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// judge checks what must hold of a record that lands. It looks at logs and
// attempts, not at the rule that let the record pass.
func (x *scenario) judge(w *world, p int, r record.Record, before, after *State, fx *Effects) {
	switch r := r.(type) {
	case *record.ClientRequest:
		x.judgeClient(w, r, after, fx.Void == Effective)
	case *record.Mail:
		if fx.Void == Effective {
			w.judgeMail(p, r)
		}
	case *record.Issued:
		if fx.Void == Effective && w.running(p, r.Epoch, r.Link) == nil {
			w.fail("P8: an Issued without an attempt")
		}
	case *record.Step:
		if fx.Void == Effective {
			x.judgeStep(w, p, r, before)
		}
	case *record.Expired:
		for _, d := range fx.Left {
			w.judgeUnbegun(p, d.Link, before)
		}
	case *record.Failed:
		if a := w.running(p, r.Epoch, r.Link); a == nil && fx.Void == Effective && after.Lookup(r.ID).Tries != before.Lookup(r.ID).Tries {
			w.fail("P9: a failure without an attempt counts")
		}
	case *record.Fire:
		w.judgeFire(r, after, fx.Void == Effective)
	case *record.Ingest:
		if fx.Void == Effective {
			w.judgeIngest(r)
		}
	}
	for _, d := range fx.Left {
		if d.ID[0] == 0xff && d.Outcome != record.TailOther {
			if w.ended&(1<<d.ID[1]) != 0 {
				w.fail("P1: a root ends twice")
			}
			w.ended |= 1 << d.ID[1]
		}
	}
}

func (x *scenario) judgeClient(w *world, r *record.ClientRequest, after *State, effective bool) {
	i := r.ID[1]
	if effective {
		if w.accepted&(1<<i) != 0 && (x.untils == nil || r.Until <= w.landed[i]+x.window) {
			w.fail("P5: a client's request is accepted a second time")
		}
		w.accepted |= 1 << i
		w.ended &^= 1 << i
	}
	if after.Clock() <= r.Until {
		w.landed[i] = max(w.landed[i], r.Until)
	}
}

// judgeMail: what is accepted must be in the outbox of its source's log.
func (w *world) judgeMail(p int, r *record.Mail) {
	from := &w.parts[r.Source.Index]
	for _, o := range from.head.state.Waiting(record.Dest{Partition: name(p)}) {
		if o.Number == r.Number && slices.Equal(record.Pack(nil, o.Message), record.Pack(nil, r.Message)) {
			return
		}
	}
	w.fail(fmt.Sprintf("P6: mail %d from %d to %d is none of its source's", r.Number, r.Source.Index, p))
}

// running is the attempt of an effective owner that a record is about.
func (w *world) running(p int, epoch uint64, l record.Link) *attempt {
	for i := range w.owners {
		o := &w.owners[i]
		if j := o.find(l.ID); o.part == p && o.epoch == epoch && w.effective(o) && j >= 0 && o.attempts[j].Link == l {
			return &o.attempts[j]
		}
	}
	return nil
}

func (x *scenario) judgeStep(w *world, p int, r *record.Step, before *State) {
	e := before.Lookup(r.ID)
	if e == nil || e.Link != r.Link {
		w.fail("P1: a Step of a link that is done")
		return
	}
	if w.nested(r.ID) {
		w.fail("P3: a Step while a child lives")
	}
	switch a := w.running(p, r.Epoch, r.Link); {
	case r.Outcome.Unbegun():
		w.judgeUnbegun(p, r.Link, before)
	case r.Outcome == record.Poison:
		if a == nil || a.status != resolving {
			w.fail("P9: poison of what is not given up")
		}
		spent := before.Epoch() - 1 // a takeover may count an attempt that never ran
		for _, b := range w.begins {
			if b.Link == r.Link {
				spent += b.times
			}
		}
		if spent < x.attempts {
			w.fail(fmt.Sprintf("P9: poison after %d attempts and takeovers", spent))
		}
	case a == nil || a.status != stepping:
		w.fail("P1: a Step without an attempt")
	}
}

// judgeUnbegun: what expires or is cancelled has left no trace, and does not run.
func (w *world) judgeUnbegun(p int, l record.Link, before *State) {
	e := before.Lookup(l.ID)
	if e == nil {
		return
	}
	if e.Begun || e.Calls > 0 || e.Tries > 0 || e.Seq > 0 {
		w.fail("A64: " + l.String() + " expires though it has begun")
	}
	if a := w.running(p, before.Epoch(), l); a != nil && a.status != resolving {
		w.fail("P8: " + l.String() + " expires while it runs")
	}
	if w.nested(l.ID) {
		w.fail("P3: " + l.String() + " expires while a child lives")
	}
}

func (w *world) judgeFire(r *record.Fire, after *State, effective bool) {
	if !effective {
		return
	}
	if after.Clock() < r.Tick {
		w.fail("P10: a tick fires early")
	}
	if r.Name == "" {
		return
	}
	bit := uint32(1) << r.Tick
	if w.fired&bit != 0 {
		w.fail("P10: a tick fires twice")
	}
	w.fired |= bit
}

func (w *world) judgeIngest(r *record.Ingest) {
	for n := r.From; n < r.To; n++ {
		if w.ingested&(1<<n) != 0 {
			w.fail("P11: a source message enters twice")
		}
		w.ingested |= 1 << n
	}
}

// requests goes through all that is live or in transit.
func (w *world) requests(yield func(r *record.Request, queued bool) bool) {
	for p := range w.parts {
		s := w.parts[p].head.state
		for _, actor := range s.Actors() {
			for e := range s.Queue(actor) {
				if !yield(&e.Request, true) {
					return
				}
			}
		}
		for _, r := range s.delayed {
			if !yield(r, false) {
				return
			}
		}
		for o := range s.Outputs() {
			r, ok := o.Message.(*record.Request)
			if ok && o.Number > w.parts[o.Dest.Partition.Index].head.state.Received(name(p)) && !yield(r, false) {
				return
			}
		}
	}
}

// nested reports whether a child of a request lives.
func (w *world) nested(id record.ID) bool {
	for r := range w.requests {
		if r.Return.Kind == record.ReturnParent && r.Return.Parent == id {
			return true
		}
	}
	return false
}

// inspect checks what must hold of every world.
func (x *scenario) inspect(w *world) {
	seen := make(map[record.ID]bool)
	for r := range w.requests {
		if seen[r.ID] {
			w.fail("P1: two requests of one id")
		}
		seen[r.ID] = true
	}
	for i := range x.roots {
		if bit := uint32(1) << i; w.accepted&bit != 0 && w.ended&bit == 0 && !seen[record.ID{0xff, byte(i)}] {
			w.fail("P4: a root is lost")
		}
	}
	x.inspectAttempts(w)
	for p := range w.parts {
		for d := range w.parts {
			made, got := w.parts[p].head.state.Produced(record.Dest{Partition: name(d)}), w.parts[d].head.state.Received(name(p))
			if got > made {
				w.fail("P6: mail that was never made is accepted")
			}
			waiting := w.parts[p].head.state.Waiting(record.Dest{Partition: name(d)})
			if made > got && (len(waiting) == 0 || waiting[0].Number > got+1) {
				w.fail("P6: mail is trimmed before it is accepted")
			}
		}
	}
}

func (x *scenario) inspectAttempts(w *world) {
	for i := range w.owners {
		o := &w.owners[i]
		if !w.effective(o) {
			continue
		}
		for j := range w.owners {
			if i != j && w.owners[j].part == o.part && w.effective(&w.owners[j]) {
				w.fail("P2: two effective owners")
			}
		}
		free := make(map[int]bool)
		for j := range o.attempts {
			a := &o.attempts[j]
			if a.status == resolving || a.status == counting || a.status == failing || a.status == stepping {
				continue
			}
			if w.running(o.part, o.epoch, a.Link) == nil {
				w.fail("P2: two attempts of one id")
			}
			if a.waiting(x) && a.status == runs {
				continue
			}
			if free[a.actor] {
				w.fail("P2: two unguarded invocations of one actor")
			}
			free[a.actor] = true
		}
	}
}

// over checks a world in which nothing has to happen any more.
func (x *scenario) over(w *world) string {
	for r, queued := range w.requests {
		if queued || r.NotBefore <= w.time {
			return fmt.Sprintf("P4: nothing goes on, and %v is left (queued: %v)", r.Link, queued)
		}
	}
	var cells []byte
	for actor, p := range x.actors {
		cells = append(cells, cellOf(w.parts[p].head.state, actor))
	}
	if w.sent != w.ended {
		return "P4: a root is not answered"
	}
	for p := range w.parts {
		for due := range w.parts[p].head.state.Due() {
			if due.At <= w.time {
				return "P10: nobody fires what is due"
			}
		}
	}
	if w.ingested != 1<<x.source-1 {
		return "P11: a source message is skipped"
	}
	if x.want != nil {
		return x.want(cells)
	}
	return ""
}
