package machine

import "github.com/backstay-go/backstay/actors/internal/record"

// mail accepts the outputs of another partition, each once and in order: a
// lower number is a copy (R5), a higher one has a predecessor that will be
// sent again, with it (R4, R13).
func (c *change) mail(r *record.Mail) Void {
	if _, letter := r.Message.(*record.Letter); letter || r.Source == c.self {
		return VoidForeign
	}
	if r.Number != c.in[r.Source]+1 {
		return VoidNumber
	}
	c.in[r.Source] = r.Number
	c.accept(r.Message)
	return Effective
}

// accept takes a message in, from another partition or from this one.
func (c *change) accept(m record.Message) {
	switch m := m.(type) {
	case *record.Request:
		c.acceptRequest(m)
	case *record.Response:
		c.acceptResponse(m)
	case *record.Empty: // had to have its number (H20)
	}
}

// acceptRequest queues a request, or sets it aside until its time. Until it is
// fired it is in transit, and has no place in any order.
func (c *change) acceptRequest(r *record.Request) {
	switch {
	case c.Lookup(r.ID) != nil || len(c.delayed) > 0 && c.delayed[r.ID] != nil:
		again := *r
		c.alarm(Alarm{Reason: AlarmTwice, ID: r.ID, Message: &again})
	case r.NotBefore > c.clock:
		later := *r
		c.delayed[r.ID] = &later
		c.effects.Reminders = append(c.effects.Reminders, Due{Actor: r.Target.Actor, ID: r.ID, At: r.NotBefore})
	default:
		e := c.blank()
		e.Request = *r
		c.queue(e)
	}
}

func (c *change) queue(e *Entry) {
	e.Queued = c.clock
	c.enter(e)
	c.effects.Entered = append(c.effects.Entered, e)
}

// acceptResponse gives a result to the caller, or to the home of a root.
func (c *change) acceptResponse(r *record.Response) {
	if r.Parent.Zero() {
		c.finish(r.Child, r.Reply, &r.Result)
		return
	}
	parent := c.Lookup(r.Parent)
	switch {
	case parent == nil:
		c.alarm(Alarm{Reason: AlarmNoParent, ID: r.Child, Message: r})
	case !parent.answered(r.Child):
		c.alarm(Alarm{Reason: AlarmNoChild, ID: r.Child, Message: r})
	default:
		c.effects.Arrivals = append(c.effects.Arrivals, Arrival{Parent: r.Parent, Child: r.Child, Result: r.Result})
	}
}

// respond sends the result of a request to whoever waits for it. The most
// usual one, of a root that ends at its home, goes the short way.
func (c *change) respond(r *record.Request, result *record.Result) {
	to := record.Dest{Partition: r.Return.Partition}
	switch r.Return.Kind {
	case record.ReturnClient:
		if r.Return.Partition == c.self {
			c.finish(r.ID, r.Return.Reply, result)
			return
		}
		c.put(to, &record.Response{Child: r.ID, Reply: r.Return.Reply, Result: *result})
	case record.ReturnParent:
		c.put(to, &record.Response{Child: r.ID, Parent: r.Return.Parent, Result: *result})
	case record.ReturnNone:
	}
}

// cancel marks a child whose caller's attempt is gone. What has begun is never
// cancelled (H7); ids are fresh, so it can come as late as it likes (H15).
func (c *change) cancel(r *record.Cancel) Void {
	e := c.Lookup(r.Child)
	switch {
	case e == nil:
		return VoidLink
	case e.Begun:
		return VoidBegun
	case e.Cancelled:
		return VoidNothing
	}
	e.Cancelled = true
	return Effective
}
