package simtest

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// compare says where the account and the machine differ after a record, or "".
func (a *account) compare(s *machine.State, fx *machine.Effects) string {
	switch partitions, window := s.Fixed(); {
	case s.Epoch() != a.epoch:
		return fmt.Sprintf("epoch %d, want %d", s.Epoch(), a.epoch)
	case s.Clock() != a.clock:
		return fmt.Sprintf("clock %d, want %d", s.Clock(), a.clock)
	case partitions != a.partitions || window != a.window:
		return fmt.Sprintf("%d partitions and window %d", partitions, window)
	}
	if d := a.compareQueues(s); d != "" {
		return d
	}
	if d := a.compareMail(s, fx); d != "" {
		return d
	}
	if d := a.compareCells(s, fx); d != "" {
		return d
	}
	for from, position := range a.ingress {
		if got := s.Ingested(from.Topic, from.Partition); got != position {
			return fmt.Sprintf("%v is taken in up to %d, want %d", from, got, position)
		}
	}
	return a.compareRoots(s) + a.compareTimes(s)
}

func (a *account) compareQueues(s *machine.State) string {
	if actors := s.Actors(); !slices.Equal(actors, a.actors()) {
		return fmt.Sprintf("requests of %v, want of %v", actors, a.actors())
	}
	for _, actor := range s.Actors() {
		var want []*request
		for _, q := range a.live {
			if q.Target.Actor == actor {
				want = append(want, q)
			}
		}
		i := 0
		for e := range s.Queue(actor) {
			if i >= len(want) || !want[i].is(e) {
				return fmt.Sprintf("request %d of %s is %v", i, actor, e.Link)
			}
			i++
		}
		if i != len(want) {
			return fmt.Sprintf("%s has %d requests, want %d", actor, i, len(want))
		}
	}
	return ""
}

// is reports whether an entry of the machine is the same.
func (q *request) is(e *machine.Entry) bool {
	children := e.Issued()
	if len(children) != len(q.children) {
		return false
	}
	for i := range children {
		if children[i].ID != q.children[i] {
			return false
		}
	}
	return sameRequest(&e.Request, &q.Request) && e.Calls == q.calls && e.Tries == q.tries && e.RetryAt == q.retryAt &&
		e.Queued == q.queued && e.Held == q.held && e.Cancelled == q.cancelled
}

func sameRequest(a, b *record.Request) bool {
	return a.Link == b.Link && a.Target == b.Target && a.Deadline == b.Deadline && a.NotBefore == b.NotBefore && a.Method == b.Method &&
		bytes.Equal(a.Args, b.Args) && a.Key == b.Key && a.Return == b.Return && slices.Equal(a.Ancestors, b.Ancestors) &&
		a.Begun == b.Begun && a.Missed == b.Missed && bytes.Equal(a.Baggage, b.Baggage)
}

// compareMail compares numbers, and the messages that are new.
func (a *account) compareMail(s *machine.State, fx *machine.Effects) string {
	for from, n := range a.in {
		if s.Received(from) != n {
			return fmt.Sprintf("mail %d of %v is accepted, want %d", s.Received(from), from, n)
		}
	}
	if dests := s.Dests(); len(dests) != len(a.out) {
		return fmt.Sprintf("%d destinations, want %d", len(dests), len(a.out))
	}
	for to, all := range a.out {
		waiting := s.Waiting(to)
		if s.Produced(to) != uint64(len(all)) || len(waiting) != len(all)-int(a.dropped[to]) { //nolint:gosec // small
			return fmt.Sprintf("%d outputs to %v of which %d wait, want %d and %d", s.Produced(to), to, len(waiting), len(all), len(all)-int(a.dropped[to])) //nolint:gosec // small
		}
	}
	for _, o := range fx.Outputs {
		if all := a.out[o.Dest]; o.Number == 0 || o.Number > uint64(len(all)) || !sameMessage(o.Message, all[o.Number-1]) {
			return fmt.Sprintf("output %d to %v differs", o.Number, o.Dest)
		}
	}
	return ""
}

func sameMessage(a, b record.Message) bool {
	switch a := a.(type) {
	case *record.Request:
		b, ok := b.(*record.Request)
		return ok && sameRequest(a, b)
	case *record.Response:
		b, ok := b.(*record.Response)
		return ok && a.Child == b.Child && a.Parent == b.Parent && a.Reply == b.Reply && sameResult(&a.Result, &b.Result)
	case *record.Letter:
		b, ok := b.(*record.Letter)
		return ok && (a.Dead != nil || a.Key == b.Key && bytes.Equal(a.Value, b.Value))
	default:
		_, ok := b.(*record.Empty)
		return ok
	}
}

// sameResult compares; what the machine's own failures say is up to it.
func sameResult(a, b *record.Result) bool {
	if a.Failure != nil && b.Failure != nil {
		return b.Failure.Code == "" || a.Failure.Code == b.Failure.Code
	}
	return (a.Failure == nil) == (b.Failure == nil) && bytes.Equal(a.Value, b.Value)
}

func (a *account) compareCells(s *machine.State, fx *machine.Effects) string {
	for _, actor := range fx.Changed {
		a.changed[actor] = true
	}
	for actor := range a.changed {
		cells := s.Cells(actor, "")
		for _, c := range cells {
			if want, ok := a.cells[actor][c.Name]; !ok || want != string(c.Value) {
				return fmt.Sprintf("cell %s of %s is %q, want %q", c.Name, actor, c.Value, want)
			}
		}
		if len(cells) != len(a.cells[actor]) {
			return fmt.Sprintf("%s has %d cells, want %d", actor, len(cells), len(a.cells[actor]))
		}
	}
	return ""
}

func (a *account) compareRoots(s *machine.State) string {
	for id, r := range a.roots {
		result, done, known := s.Answer(id)
		if remembered := a.known(id) != nil; known != remembered || known && (done != r.done || done && !sameResult(&result, &r.answer)) {
			return fmt.Sprintf("root %v is known: %v, done: %v; want %v, %v", id, known, done, remembered, r.done)
		}
	}
	return ""
}

func (a *account) compareTimes(s *machine.State) string {
	n := 0
	for d := range s.Due() {
		n++
		if d.Name != "" {
			if r, ok := a.reminders[reminder{d.Actor, d.Name}]; !ok || r.Next != d.At {
				return fmt.Sprintf("reminder %s of %s is due at %d", d.Name, d.Actor, d.At)
			}
			continue
		}
		if !slices.ContainsFunc(a.delayed, func(q *request) bool { return q.ID == d.ID && q.NotBefore == d.At }) {
			return fmt.Sprintf("request %v waits until %d", d.ID, d.At)
		}
	}
	if want := len(a.reminders) + len(a.delayed); n != want {
		return fmt.Sprintf("%d reminders and delayed requests, want %d", n, want)
	}
	return ""
}
