package machine

import (
	"bytes"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/record/codec"
)

// fromClient accepts a root once. Its copies find it open or done, wherever the
// chain has gone (H1); they prolong it (R22, also while the chain is away:
// R24), and fetch the answer again. After until + window, by the log's own
// clock, no copy can be accepted under an old until any more: then what was
// done is forgotten (H2, H22).
func (c *change) fromClient(r *record.ClientRequest) Void {
	if c.clock > r.Until {
		return VoidLate
	}
	if known := c.roots.of(r.ID); known != nil {
		c.roots.prolong(known, r.Until)
		if known.stage == answered {
			c.answer(Answer{ID: r.ID, Reply: r.Reply, Result: c.result(known)})
		}
		return VoidKnown
	}
	if !c.routes(r.Target) {
		return VoidMisrouted
	}
	if c.Lookup(r.ID) != nil {
		return VoidKnown
	}
	c.roots.open(r.ID, r.Until)
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

// routes reports whether an actor lives here, as far as that is known yet.
func (s *State) routes(a record.Address) bool {
	return a.Partition() == s.self && (s.partitions == 0 || record.PartitionOf(a.Actor, s.partitions) == s.self.Index)
}

// finish ends a root at its home.
func (c *change) finish(id record.ID, reply string, result *record.Result) {
	r := c.roots.of(id)
	if r == nil || r.stage == answered {
		c.alarm(Alarm{Reason: AlarmNoRoot, ID: id})
		return
	}
	c.answer(Answer{ID: id, Reply: reply, Result: *result})
	last := &c.effects.Answers[len(c.effects.Answers)-1]
	c.roots.close(r, c.roots.archive.put(&last.Result)) // where it is on the heap already
	c.forget()                                          // it may have taken longer than anybody asks
}

// result is the answer of a root, in memory of its own: that of the archive is
// used again.
func (s *State) result(r *root) (answer record.Result) {
	_ = codec.Decode(bytes.Clone(s.roots.archive.get(r.answer)), &answer) // it was encoded here, or checked by RestoreCore
	return answer
}

// forget drops what is done and whose until is past by more than the window.
// What is open stays (P4).
func (s *State) forget() { s.roots.forget(s.clock - s.window) }

// expiry is a root that is done, and the until it had when this was noted.
type expiry struct {
	at   int64
	root uint32 // number of its place
}

// Answer returns the answer of a root whose home this is: done is false while
// it is open, known is false if nothing is remembered.
func (s *State) Answer(id record.ID) (result record.Result, done, known bool) {
	r := s.roots.of(id)
	if r == nil {
		return record.Result{}, false, false
	}
	return s.result(r), r.stage == answered, true
}

// Glance prepares requests of clients to be applied next: it spares them waits for
// memory, and changes nothing.
func (s *State) Glance(ids []record.ID) { s.roots.glance(ids) }
