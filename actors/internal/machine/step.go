package machine

import "github.com/backstay-go/backstay/actors/internal/record"

// step ends a link: what it changed, what it tells, and what comes after it are
// one atomic record. With a child out it is void, whatever the outcome (R8,
// R36).
func (c *change) step(e *Entry, r *record.Step) Void {
	switch {
	case len(e.issued) > 0:
		return VoidIssued
	case r.Outcome.Unbegun() && e.Begun: // it may have left traces (H7, R45)
		return VoidBegun
	case r.Outcome == record.Cancelled && !e.Cancelled:
		return VoidUncalled
	}
	switch r.Outcome {
	case record.End, record.TailSelf, record.TailOther:
		c.complete(e, r)
	default:
		c.giveUp(e, r.Outcome, r.Result.Failure, r.Dead)
	}
	return Effective
}

// complete ends a link whose method has returned.
func (c *change) complete(e *Entry, r *record.Step) {
	c.commit(e, &r.Delta)
	for i := range r.Tells {
		c.tell(e, &r.Tells[i])
	}
	for i := range r.Letters {
		p := &r.Letters[i]
		c.put(record.Dest{Topic: p.Topic}, &record.Letter{Key: p.Key, Value: p.Value, Headers: p.Headers, Kept: p.Kept})
	}
	switch r.Outcome {
	case record.TailSelf:
		c.tailSelf(e, r.Tail)
	case record.TailOther:
		c.tailOther(e, r.Tail)
	default:
		c.depart(e, record.End)
		c.respond(&e.Request, &r.Result)
	}
}

// tailSelf makes the entry its own successor: in its place (R12), keeping its
// actor (H4), as the only one left to retry (A25). Its size does not grow with
// the chain (A27).
func (c *change) tailSelf(e *Entry, tail *record.Call) {
	link(&e.Request, tail)
	e.Held = true
	e.Calls, e.Tries, e.RetryAt = 0, 0, 0
}

// tailOther sends the successor on its way, with the way back and the callers
// of the whole chain (R14). To the own actor it goes behind the queue. A root
// stays open at its home until the chain ends (H1).
func (c *change) tailOther(e *Entry, tail *record.Call) {
	c.depart(e, record.TailOther)
	next := e.Request
	next.Target = tail.Target
	link(&next, tail)
	c.put(record.Dest{Partition: tail.Target.Partition()}, &next)
}

// link turns a request into the next of its chain. It has begun, so it can
// neither expire nor be cancelled, and has no deadline (A64).
func link(r *record.Request, tail *record.Call) {
	r.Seq++
	r.Method, r.Args = tail.Method, tail.Args
	if len(tail.Baggage) > 0 {
		r.Baggage = tail.Baggage
	}
	r.Begun = true
	r.Deadline, r.NotBefore, r.Missed = 0, 0, 0
}

// depart takes an entry out of its mailbox.
func (c *change) depart(e *Entry, o record.Outcome) {
	c.leave(e)
	c.effects.Left = append(c.effects.Left, Departure{e, o})
}

// expired ends many; each is judged by itself (R46).
func (c *change) expired(r *record.Expired) Void {
	verdict := VoidNothing
	for _, l := range r.Links {
		e := c.Lookup(l.ID)
		if e == nil || e.Link != l || e.Begun || len(e.issued) > 0 {
			continue
		}
		c.giveUp(e, record.DeadlinePassed, nil, r.Dead)
		verdict = Effective
	}
	return verdict
}
