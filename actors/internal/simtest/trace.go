package simtest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/record/codec"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
)

// attempt is a method that runs, as it has reported itself.
type attempt struct {
	judge  *Judge
	view   *View
	epoch  uint64
	number uint64
	parked int
	over   bool // it knows that it can do nothing any more
	run    run
	record.Request
	wrote map[string]bool
}

// run is an owner's run of a link.
type run struct {
	partition record.Partition
	epoch     uint64
	link      record.Link
}

type traceKey struct{}

// Trace has a type's methods report their runs to the judge. The runtime asks for
// it.
func (v *View) Trace(t runtime.Type) runtime.Type {
	j := v.cluster.judge
	if j == nil {
		return t
	}
	most := cmp.Or(t.MaxAttempts, runtime.DefaultMaxAttempts)
	traced := make(map[string]runtime.Method, len(t.Methods))
	for name, m := range t.Methods {
		if run := m.Run; run != nil {
			m.Run = func(ctx context.Context, a *runtime.Attempt) runtime.End {
				x := j.begin(v, a, most)
				defer j.end(x)
				return run(context.WithValue(ctx, traceKey{}, x), a)
			}
		}
		if read := m.Read; read != nil {
			m.Read = func(ctx context.Context, r *runtime.Reading) record.Result {
				j.shared(r.Request().ID)
				return read(ctx, r)
			}
		}
		traced[name] = m
	}
	t.Methods = traced
	if activate := t.Activate; activate != nil {
		t.Activate = func(ctx context.Context, a *runtime.Attempt) (any, *runtime.End) {
			j.mu.Lock()
			j.ran[runOf(a)] = true
			j.mu.Unlock()
			return activate(ctx, a)
		}
	}
	return t
}

func runOf(a *runtime.Attempt) run {
	r := a.Request()
	return run{r.Target.Partition(), a.Epoch(), r.Link}
}

// shared lets a shared method that is called within a chain end without a run.
func (j *Judge) shared(id record.ID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, l := range j.ledgers {
		if q := l.find(id); q != nil {
			j.ran[run{l.self, l.epoch, q.Link}] = true
		}
	}
}

// begin takes note of a run, and judges it.
func (j *Judge) begin(v *View, a *runtime.Attempt, most uint64) *attempt {
	j.mu.Lock()
	defer j.mu.Unlock()
	x := &attempt{judge: j, view: v, epoch: a.Epoch(), number: a.Number(), run: runOf(a), Request: *a.Request(), wrote: make(map[string]bool)}
	if j.dead[v.name] {
		return x
	}
	j.ran[x.run] = true
	at := place{x.run.partition, x.Link}
	if j.begins[at]++; uint64(j.begins[at]) > most+1 { //nolint:gosec // small
		j.fail("P9: %v begins for the %d. time, with %d attempts allowed", x.Link, j.begins[at], most)
	}
	if j.effective(x) {
		j.judgeBegin(x)
	}
	j.attempts = append(j.attempts, x)
	return x
}

// effective reports whether the run's owner is the one of the log's head.
func (j *Judge) effective(x *attempt) bool {
	return !x.over && !j.dead[x.view.name] && j.ledger(x.run.partition).epoch == x.epoch
}

func (j *Judge) judgeBegin(x *attempt) {
	l := j.ledger(x.run.partition)
	j.judgeLink(l, l.find(x.ID), x)
	if j.nested(x.ID) {
		j.fail("P3: %v begins while a child of an earlier attempt lives", x.Link)
	}
	if other := j.runs(l, x.ID); other != nil {
		j.fail("P2: %v begins, and runs already", x.Link)
	}
	for _, e := range l.live {
		if e.Target.Actor == x.Target.Actor && e.ID != x.ID && e.marked() && !slices.Contains(x.Ancestors, e.ID) {
			j.fail("P7: %v begins on %s, which %v keeps", x.Link, x.Target.Actor, e.Link)
		}
	}
	j.judgeAlone(x)
}

// marked reports whether a request keeps its actor, whether it runs or not.
func (q *request) marked() bool { return q.held || q.calls > 0 || len(q.children) > 0 }

// judgeLink: what begins is live, not done, and counted.
func (j *Judge) judgeLink(l *ledger, q *request, x *attempt) {
	switch {
	case j.stepped[place{l.self, x.Link}]:
		j.fail("P1: %v begins, and is done", x.Link)
	case q == nil || q.Link != x.Link:
		j.fail("P1: %v begins, and is not live", x.Link)
	case x.number != q.tries+1 && x.number != q.tries:
		j.fail("P9: %v begins attempt %d after %d", x.Link, x.number, q.tries)
	case l.suspects[x.Link] && x.number != q.tries:
		j.fail("P9: %v may have run at the owner before, and begins uncounted", x.Link)
	}
}

// judgeAlone: nobody else may be active on the actor.
func (j *Judge) judgeAlone(x *attempt) {
	for _, other := range j.attempts {
		if other != x && other.run.partition == x.run.partition && other.Target.Actor == x.Target.Actor && j.active(other) && j.effective(other) {
			j.fail("P2: %v and %v are both active on %s", other.Link, x.Link, x.Target.Actor)
		}
	}
}

// active reports whether a method runs that does not wait for a call. Methods
// that do not report that may wait as long as a call of theirs is out.
func (j *Judge) active(x *attempt) bool {
	if x.parked > 0 || !x.view.cluster.silent {
		return x.parked == 0
	}
	q := j.ledger(x.run.partition).find(x.ID)
	return q == nil || len(q.children) == 0
}

// runs returns the effective run of a request, nil if there is none.
func (j *Judge) runs(l *ledger, id record.ID) *attempt {
	for _, x := range j.attempts {
		if x.ID == id && x.run.partition == l.self && j.effective(x) {
			return x
		}
	}
	return nil
}

func (j *Judge) end(x *attempt) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.attempts = slices.DeleteFunc(j.attempts, func(other *attempt) bool { return other == x })
}

// died takes a process's runs away.
func (j *Judge) died(name string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.dead[name] = true
	j.attempts = slices.DeleteFunc(j.attempts, func(x *attempt) bool { return x.view.name == name })
}

// Parked says that the method of ctx is about to wait for a call; what it
// returns says that it goes on, with that error. After the loss of its partition
// it is over.
func Parked(ctx context.Context) (goesOn func(error)) {
	x, ok := ctx.Value(traceKey{}).(*attempt)
	if !ok {
		return func(error) {}
	}
	j := x.judge
	j.mu.Lock()
	x.parked++
	j.mu.Unlock()
	return func(err error) {
		j.mu.Lock()
		defer j.mu.Unlock()
		x.over = x.over || errors.Is(err, runtime.ErrOver) || errors.Is(err, runtime.ErrLost)
		if x.parked--; x.parked == 0 && j.effective(x) {
			j.judgeAlone(x)
		}
	}
}

// Wrote says that the method of ctx has set a cell, Saw that it has read one: if
// it has not set it, and is effective, that must be what the log says.
func Wrote(ctx context.Context, cell string) {
	if x, ok := ctx.Value(traceKey{}).(*attempt); ok {
		x.judge.mu.Lock()
		defer x.judge.mu.Unlock()
		x.wrote[cell] = true
	}
}

// Saw is about reading; see [Wrote].
func Saw(ctx context.Context, cell string, value []byte, ok bool) {
	x, traced := ctx.Value(traceKey{}).(*attempt)
	if !traced {
		return
	}
	j := x.judge
	j.mu.Lock()
	defer j.mu.Unlock()
	if x.wrote[cell] || !j.effective(x) {
		return
	}
	want, is := j.ledger(x.run.partition).cells[x.Target.Actor][cell]
	if is != ok || want != string(value) {
		j.fail("P8: %v reads %q from cell %s of %s, which is %q", x.Link, value, cell, x.Target.Actor, want)
	}
}

// ViewOf returns the view of the process that runs the method of ctx.
func ViewOf(ctx context.Context) *View {
	if x, ok := ctx.Value(traceKey{}).(*attempt); ok {
		return x.view
	}
	return nil
}

// reply is an answer on its way to a client, as the runtime writes it.
type reply struct {
	id     record.ID
	result record.Result
	kept   codec.Kept
}

// Fields describes r.
func (r *reply) Fields(w *codec.Walker) {
	w.Keep(&r.kept)
	w.Fixed(1, (*[16]byte)(&r.id))
	w.Message(2, &r.result)
}

// answered: an answer must be in the log when it is given (H21).
func (j *Judge) answered(data []byte) {
	var r reply
	if codec.Decode(data, &r) != nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.reads[r.id] {
		return
	}
	for _, l := range j.ledgers {
		if root := l.roots[r.id]; root != nil && root.done && sameResult(&r.result, &root.answer) {
			return
		}
	}
	j.fail("H21: root %v is answered otherwise than in the log", r.id)
}

// published: a message to an ordinary topic must be an output in the log, or the
// dead letter of one that is.
func (j *Judge) published(m *journal.Message) {
	var source, number string
	to := record.Dest{Topic: m.Topic}.String()
	for _, h := range m.Headers {
		switch h.Name {
		case runtime.HeaderSource:
			source = string(h.Value)
		case runtime.HeaderNumber:
			number = string(h.Value)
		case runtime.HeaderDest:
			to = string(h.Value)
		}
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for p, l := range j.ledgers {
		if p.String() == source && n >= 1 && n <= l.produced(to) {
			return
		}
	}
	j.fail("P6: message %d of %s to %s is none of its outputs", n, source, to)
}

// produced is how many outputs there are to a destination.
func (l *ledger) produced(to string) uint64 {
	for dest, all := range l.out {
		if dest.String() == to {
			return uint64(len(all))
		}
	}
	return 0
}
