package machine

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// advance is the state after one more record.
func (x *scenario) advance(from *snap, l logged) (*snap, record.Record, *Effects) {
	s, err := Restore(from.bytes)
	if err != nil {
		panic(err)
	}
	r, err := record.Decode(l.bytes)
	if err != nil {
		panic(err)
	}
	if x.before != nil {
		x.before(s, r)
	}
	fx := s.Apply(r, l.at)
	if x.after != nil {
		x.after(s, r, fx)
	}
	return &snap{s.Snapshot(), s}, r, fx
}

// land puts a record at the end of a log.
func (x *scenario) land(w *world, p int, b []byte) {
	pt := &w.parts[p]
	l := logged{bytes: b, at: w.time}
	before := pt.head
	after, r, fx := x.advance(before, l)
	l.void = fx.Void
	x.judge(w, p, r, before.state, after.state, fx)
	pt.log = append(slices.Clip(pt.log), l)
	pt.head = after
	for _, a := range fx.Alarms {
		w.fail("alarm: " + string(a.Reason))
	}
}

// write appends a record of an owner; copied says that a copy stays in the network.
func (x *scenario) write(w *world, o *owner, r record.Record, copied bool) {
	b := record.Encode(r)
	if copied {
		w.copies--
		w.late = append(w.late, lateRecord{o.part, b})
	}
	x.land(w, o.part, b)
}

// read applies the next record at an owner; false means that the owner is gone.
func (x *scenario) read(w *world, i int) bool {
	o := &w.owners[i]
	pt := &w.parts[o.part]
	next, r, fx := x.advance(o.view, pt.log[o.pos-pt.gone])
	o.view = next
	o.pos++
	if o.pos == pt.gone+len(pt.log) && !bytes.Equal(next.bytes, pt.head.bytes) {
		w.fail("two readers of one log differ")
	}
	if t, ok := r.(*record.Takeover); ok {
		return x.readTakeover(w, i, t, fx.Void)
	}
	for _, a := range fx.Arrivals {
		o.arrive(a)
	}
	x.settled(w, o, r, fx.Void)
	return true
}

func (x *scenario) readTakeover(w *world, i int, t *record.Takeover, v Void) bool {
	o := &w.owners[i]
	mine := t.Nonce == record.ID{o.nonce} && o.status == claiming
	switch {
	case mine && v == Effective:
		x.own(o)
		return true
	case mine, v == Effective && o.status == active:
		w.owners = slices.Delete(w.owners, i, i+1)
		return false
	}
	return true
}

// own begins an incarnation.
func (x *scenario) own(o *owner) {
	s := o.view.state
	o.status = active
	if o.suspects = s.Suspects(); x.suspect != nil {
		o.suspects = x.suspect(s)
	}
	if x.attempts == 0 {
		o.suspects = nil
	}
	if x.cancels {
		o.orphans = s.IssuedChildren()
	}
	for d := range o.next {
		dest := record.Dest{Partition: name(d)}
		o.next[d] = s.Produced(dest) + 1
		if waiting := s.Waiting(dest); len(waiting) > 0 {
			o.next[d] = waiting[0].Number
		}
		o.acked[d] = o.next[d] - 1
	}
}

func (o *owner) arrive(a Arrival) {
	for i := range o.attempts {
		for j := range o.attempts[i].waits {
			if y := &o.attempts[i].waits[j]; y.id == a.Child && o.attempts[i].ID == a.Parent {
				y.done = true
			}
		}
	}
}

// settled tells an owner what became of a record, perhaps its own.
func (x *scenario) settled(w *world, o *owner, r record.Record, v Void) {
	switch r := r.(type) {
	case *record.Issued:
		x.flew(w, o, r.Epoch, r.Link, v)
	case *record.Write:
		x.flew(w, o, r.Epoch, r.Link, v)
	case *record.Step:
		x.ended(o, r.Epoch, r.Link, v)
	case *record.Expired:
		for _, l := range r.Links {
			x.ended(o, r.Epoch, l, v)
		}
	case *record.Begun:
		x.counted(w, o, r, v)
	case *record.Failed:
		if i := o.mine(r.Epoch, r.Link); i >= 0 && o.attempts[i].status == failing && o.attempts[i].number == r.Attempt {
			o.drop(i)
		}
	case *record.Fire:
		if r.Epoch == o.epoch {
			o.firing = slices.DeleteFunc(o.firing, func(a int) bool { return x.address(a) == r.Target })
		}
	case *record.Ingest:
		if r.Epoch == o.epoch {
			o.ingesting = false
		}
	}
}

// mine is the attempt that a record of this incarnation is about.
func (o *owner) mine(epoch uint64, l record.Link) int {
	if i := o.find(l.ID); i >= 0 && epoch == o.epoch && o.attempts[i].Seq == l.Seq {
		return i
	}
	return -1
}

func (x *scenario) flew(w *world, o *owner, epoch uint64, l record.Link, v Void) {
	if i := o.mine(epoch, l); i >= 0 && o.attempts[i].status == flying && v == Effective {
		o.attempts[i].status = runs
		x.run(w, o, i)
	}
}

func (x *scenario) ended(o *owner, epoch uint64, l record.Link, v Void) {
	i := o.mine(epoch, l)
	if i >= 0 && (o.attempts[i].status == resolving || o.attempts[i].status == stepping && v == Effective) {
		o.drop(i)
	}
}

func (x *scenario) counted(w *world, o *owner, r *record.Begun, v Void) {
	i := o.mine(r.Epoch, r.Link)
	if i < 0 || o.attempts[i].status != counting || o.attempts[i].number != r.Attempt {
		return
	}
	if v != Effective {
		w.fail("an own Begun is void")
		return
	}
	o.drop(i)
	x.begin(w, o, o.view.state.Lookup(r.ID), r.Attempt)
}

// settle reads what is there to be read, resumes what may, and trims logs.
func (x *scenario) settle(w *world) {
	if !x.slow {
		for x.settleOnce(w) && w.fault == "" {
		}
	}
	for p := range w.parts {
		pt := &w.parts[p]
		read := pt.gone + len(pt.log)
		for i := range w.owners {
			if w.owners[i].part == p {
				read = min(read, w.owners[i].pos)
			}
		}
		pt.log, pt.gone = pt.log[read-pt.gone:], read
	}
}

func (x *scenario) settleOnce(w *world) bool {
	for i := range w.owners {
		o := &w.owners[i]
		pt := &w.parts[o.part]
		if o.pos < pt.gone+len(pt.log) && !foreign(o, pt.log[o.pos-pt.gone]) {
			x.read(w, i)
			return true
		}
		for j := range o.attempts {
			if x.mayResume(w, o, &o.attempts[j]) {
				x.resume(w, o, j)
				return true
			}
		}
	}
	return false
}

// foreign reports whether reading the record is the end of the owner: a zombie
// lives as long as it likes before that.
func foreign(o *owner, l logged) bool {
	h, _, err := record.Peek(l.bytes)
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return h.Kind == record.KindTakeover && l.void == Effective && h.Nonce != record.ID{o.nonce}
}
