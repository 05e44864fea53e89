package machine

import (
	"slices"
	"strconv"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/idempotency"
)

// issued commits what an invocation has changed, and makes its calls. The
// children are on record before any request of theirs exists (R6). A copy of
// the record has the number of a call that was made (H3).
func (c *change) issued(e *Entry, call uint64, children []record.Call, d *record.Delta) Void {
	if e.Calls != call {
		return VoidCall
	}
	e.Calls++
	e.Begun = true
	c.commit(e, d)
	ancestors := append(slices.Clip(e.Ancestors), e.ID)
	for i := range children {
		c.call(e, &children[i], ancestors)
	}
	return Effective
}

// call makes a nested call.
func (c *change) call(e *Entry, child *record.Call, ancestors []record.ID) {
	if slices.ContainsFunc(e.issued, func(x Child) bool { return x.ID == child.ID }) {
		c.alarm(Alarm{Reason: AlarmTwice, ID: child.ID})
		return
	}
	to := child.Target.Partition()
	e.issued = append(e.issued, Child{ID: child.ID, Partition: to})
	request := c.request(e, child)
	request.Return = record.Return{Kind: record.ReturnParent, Partition: c.self, Parent: e.ID}
	request.Ancestors = ancestors
	c.put(record.Dest{Partition: to}, request)
}

// tell makes a request that nobody waits for.
func (c *change) tell(e *Entry, t *record.Call) {
	c.put(record.Dest{Partition: t.Target.Partition()}, c.request(e, t))
}

// request is what a link sends. Its key follows from the link's: a retried
// caller calls again with a new id and the same key (A80).
func (c *change) request(e *Entry, call *record.Call) *record.Request {
	baggage := call.Baggage
	if len(baggage) == 0 {
		baggage = e.Baggage
	}
	return &record.Request{
		Link: record.Link{ID: call.ID}, Target: call.Target, Method: call.Method, Args: call.Args,
		Deadline: c.deadline(call.TTL, call.Deadline), NotBefore: call.NotBefore,
		Key: ChildKey(e, call.Name), Baggage: baggage, Kept: call.Kept,
	}
}

// ChildKey is the key of what a link calls by that name: the same on every
// retry, and another for every link and name (A77, A80). It is also the
// idempotency key that a method derives for the world outside.
func ChildKey(e *Entry, name string) string {
	return idempotency.Derive(e.IdempotencyKey(), strconv.FormatUint(e.Seq, 10), name)
}
