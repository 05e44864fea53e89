package simtest

import (
	"slices"
	"strconv"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/idempotency"
)

func (a *account) forwarded(r *record.Forwarded) bool {
	n := min(r.Number, uint64(len(a.out[r.Dest])))
	if r.Epoch != a.epoch || n <= a.dropped[r.Dest] {
		return false
	}
	a.dropped[r.Dest] = n
	return true
}

func (a *account) undeliverable(r *record.Undeliverable) bool {
	if r.Epoch != a.epoch || r.Number <= a.dropped[r.Dest] || r.Number > uint64(len(a.out[r.Dest])) {
		return false
	}
	lost := &a.out[r.Dest][r.Number-1]
	if _, again := (*lost).(*record.Empty); again {
		return false
	}
	if m, ok := (*lost).(*record.Response); ok && r.Instead {
		if f := m.Result.Failure; f != nil && f.Code == r.Failure.Code && f.Message == r.Failure.Message {
			return false // a copy
		}
		told := *m
		told.Result = record.Result{Failure: &r.Failure}
		*lost = &told
		return true
	}
	request, _ := (*lost).(*record.Request)
	*lost = new(record.Empty)
	if request != nil {
		a.respond(request, record.Result{Failure: &r.Failure})
	}
	return true
}

func (a *account) fire(r *record.Fire) bool {
	if a.clock < r.Tick {
		return false
	}
	if r.Name == "" {
		i := slices.IndexFunc(a.delayed, func(q *request) bool { return q.ID == r.ID })
		if i < 0 || a.delayed[i].NotBefore != r.Tick {
			return false
		}
		q := a.delayed[i].Request
		a.delayed = slices.Delete(a.delayed, i, i+1)
		q.NotBefore = 0
		a.queue(&q)
		return true
	}
	set, ok := a.reminders[reminder{r.Target.Actor, r.Name}]
	if !ok || set.Next != r.Tick {
		return false
	}
	a.queue(&record.Request{
		Link: record.Link{ID: r.ID}, Target: record.Address{Type: a.self.Type, Actor: r.Target.Actor, Index: a.self.Index},
		Method: set.Method, Args: set.Args, Missed: r.Missed, Baggage: set.Baggage,
		Key: idempotency.Derive(a.self.Type, r.Target.Actor, r.Name, strconv.FormatInt(r.Tick, 10)),
	})
	set.Next = r.Then
	a.remind(r.Target.Actor, set)
	return true
}
