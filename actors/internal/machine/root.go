package machine

import (
	"bytes"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// root is what the home of a client's request remembers of it, wherever its
// chain is: open from its acceptance on, then the answer.
type root struct {
	id     record.ID
	until  int64
	done   bool
	answer record.Result
}

// fromClient accepts a root once. Its copies find it open or done, wherever the
// chain has gone (H1); they prolong it (R22, also while the chain is away:
// R24), and fetch the answer again. After until + window, by the log's own
// clock, no copy can be accepted under an old until any more: then what was
// done is forgotten (H2, H22).
func (c *change) fromClient(r *record.ClientRequest) Void {
	if c.clock > r.Until {
		return VoidLate
	}
	if known := c.roots[r.ID]; known != nil {
		c.prolong(known, r.Until)
		if known.done {
			c.answer(Answer{ID: r.ID, Reply: r.Reply, Result: known.answer})
		}
		return VoidKnown
	}
	if !c.routes(r.Target) {
		return VoidMisrouted
	}
	if c.entries[r.ID] != nil {
		return VoidKnown
	}
	c.remember(r.ID, r.Until)
	if r.NotBefore > c.clock || len(c.delayed) > 0 {
		var request record.Request
		c.asked(r, &request)
		c.acceptRequest(&request)
		return Effective
	}
	e := c.blank() // nothing else can be in its way: it is filled in where it stays
	c.asked(r, &e.Request)
	c.queue(e)
	return Effective
}

// asked fills in the request of a client, field by field: most stay as they are.
func (c *change) asked(r *record.ClientRequest, to *record.Request) {
	to.ID, to.Life, to.Target = r.ID, r.Until, r.Target
	to.Deadline, to.NotBefore = c.deadline(r.TTL, r.Deadline), r.NotBefore
	to.Method, to.Args, to.Key, to.Baggage, to.Kept = r.Method, r.Args, r.Key, r.Baggage, r.Kept
	to.Return.Kind, to.Return.Partition, to.Return.Reply = record.ReturnClient, c.self, r.Reply
}

// remember opens a root, in the room of one that was forgotten.
func (s *State) remember(id record.ID, until int64) {
	var r *root
	if last := len(s.forgotten) - 1; last < 0 {
		r = new(root)
	} else {
		r = s.forgotten[last]
		s.forgotten = s.forgotten[:last]
	}
	r.id, r.until = id, until
	s.roots[id] = r
}

// routes reports whether an actor lives here, as far as that is known yet.
func (s *State) routes(a record.Address) bool {
	return a.Partition() == s.self && (s.partitions == 0 || record.PartitionOf(a.Actor, s.partitions) == s.self.Index)
}

// prolong raises the until of a root.
func (s *State) prolong(r *root, until int64) {
	if until <= r.until {
		return
	}
	r.until = until
	if r.done {
		s.ends.push(expiry{at: until, id: r.id})
	}
}

// finish ends a root at its home.
func (c *change) finish(id record.ID, reply string, result record.Result) {
	r := c.roots[id]
	if r == nil || r.done {
		c.alarm(Alarm{Reason: AlarmNoRoot, ID: id})
		return
	}
	r.done, r.answer = true, kept(result)
	c.ends.push(expiry{at: r.until, id: id})
	c.answer(Answer{ID: id, Reply: reply, Result: result})
	c.forget() // it may have taken longer than anybody asks
}

// kept is a result that holds on to nothing else of its record: it may be kept
// for long after that.
func kept(r record.Result) record.Result {
	r.Value = bytes.Clone(r.Value)
	if r.Failure != nil {
		f := *r.Failure
		f.Detail = bytes.Clone(f.Detail)
		r.Failure = &f
	}
	return r
}

// forget drops what is done and whose until is past by more than the window. What is open
// stays (P4).
func (s *State) forget() {
	for s.ends.due(s.clock - s.window) {
		e := s.ends.pop()
		if r := s.roots[e.id]; r != nil && r.done && r.until == e.at {
			delete(s.roots, e.id)
			if *r = (root{}); len(s.forgotten) < mostSpare {
				s.forgotten = append(s.forgotten, r)
			}
		}
	}
}

// expiry is a root that is done, and the until it had when this was noted.
type expiry struct {
	at int64
	id record.ID
}

// Answer returns the answer of a root whose home this is: done is false while
// it is open, known is false if nothing is remembered.
func (s *State) Answer(id record.ID) (result record.Result, done, known bool) {
	r := s.roots[id]
	if r == nil {
		return record.Result{}, false, false
	}
	return r.answer, r.done, true
}
