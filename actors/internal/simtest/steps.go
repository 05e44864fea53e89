package simtest

import (
	"slices"
	"strconv"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/idempotency"
)

// issued is Issued and Write.
func (a *account) issued(q *request, call uint64, children []record.Call, d *record.Delta) bool {
	if q == nil || q.calls != call {
		return false
	}
	q.calls++
	q.Begun = true
	a.commit(q.Target.Actor, d)
	for i := range children {
		child := a.sent(q, &children[i])
		child.Return = record.Return{Kind: record.ReturnParent, Partition: a.self, Parent: q.ID}
		child.Ancestors = append(slices.Clone(q.Ancestors), q.ID)
		q.children = append(q.children, child.ID)
		a.put(record.Dest{Partition: child.Target.Partition()}, child)
	}
	return true
}

// sent is a request that a link makes.
func (a *account) sent(q *request, c *record.Call) *record.Request {
	r := &record.Request{
		Link: record.Link{ID: c.ID}, Target: c.Target, Method: c.Method, Args: c.Args, Baggage: c.Baggage,
		Deadline: a.deadline(c.TTL, c.Deadline), NotBefore: c.NotBefore,
		Key: idempotency.Derive(q.IdempotencyKey(), strconv.FormatUint(q.Seq, 10), c.Name),
	}
	if len(r.Baggage) == 0 {
		r.Baggage = q.Baggage
	}
	return r
}

func (a *account) commit(actor string, d *record.Delta) {
	if d.Clear {
		a.changed[actor] = true
		delete(a.cells, actor)
		for k := range a.reminders {
			if k.actor == actor {
				delete(a.reminders, k)
			}
		}
	}
	for _, c := range d.Cells {
		a.changed[actor] = true
		if c.Removed {
			delete(a.cells[actor], c.Name)
			continue
		}
		if a.cells[actor] == nil {
			a.cells[actor] = make(map[string]string)
		}
		a.cells[actor][c.Name] = string(c.Value)
	}
	for _, r := range d.Reminders {
		a.remind(actor, r)
	}
}

func (a *account) remind(actor string, r record.Reminder) {
	if r.Next == 0 {
		delete(a.reminders, reminder{actor, r.Name})
		return
	}
	r.Next = max(r.Next, a.clock+1)
	a.reminders[reminder{actor, r.Name}] = r
}

func (a *account) step(q *request, r *record.Step) bool {
	if q == nil || len(q.children) > 0 || r.Outcome.Unbegun() && q.Begun || r.Outcome == record.Cancelled && !q.cancelled {
		return false
	}
	switch r.Outcome {
	case record.End, record.TailSelf, record.TailOther:
	default:
		a.giveUp(q, r.Outcome, r.Result.Failure, r.Dead)
		return true
	}
	a.commit(q.Target.Actor, &r.Delta)
	for i := range r.Tells {
		a.put(record.Dest{Partition: r.Tells[i].Target.Partition()}, a.sent(q, &r.Tells[i]))
	}
	for _, l := range r.Letters {
		a.put(record.Dest{Topic: l.Topic}, &record.Letter{Key: l.Key, Value: l.Value, Headers: l.Headers})
	}
	switch r.Outcome {
	case record.TailSelf:
		q.next(r.Tail)
		q.held, q.calls, q.tries, q.retryAt = true, 0, 0, 0
	case record.TailOther:
		a.remove(q)
		on := request{Request: q.Request}
		on.next(r.Tail)
		on.Target = r.Tail.Target
		a.put(record.Dest{Partition: on.Target.Partition()}, &on.Request)
	default:
		a.remove(q)
		a.respond(&q.Request, r.Result)
	}
	return true
}

// next makes a request the next link of its chain.
func (q *request) next(tail *record.Call) {
	q.Seq++
	q.Method, q.Args, q.Begun = tail.Method, tail.Args, true
	q.Deadline, q.NotBefore, q.Missed = 0, 0, 0
	if len(tail.Baggage) > 0 {
		q.Baggage = tail.Baggage
	}
}

// giveUp ends what is not run any more. What its failure says is not compared.
func (a *account) giveUp(q *request, o record.Outcome, f *record.Failure, dead string) {
	a.remove(q)
	if dead != "" && (o == record.Poison || q.Return.Tell()) {
		a.put(record.Dest{Topic: dead}, &record.Letter{})
	}
	if f == nil {
		f = &record.Failure{}
	}
	a.respond(&q.Request, record.Result{Failure: f})
}

func (a *account) expired(r *record.Expired) bool {
	some := false
	for _, l := range r.Links {
		if q := a.link(r.Epoch, l); q != nil && !q.Begun && len(q.children) == 0 {
			a.giveUp(q, record.DeadlinePassed, nil, r.Dead)
			some = true
		}
	}
	return some
}
