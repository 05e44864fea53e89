package machine

import "github.com/backstay-go/backstay/actors/internal/record"

// change is a record being applied.
type change struct {
	*State
	effects *Effects
}

func (c *change) alarm(a Alarm)   { c.effects.Alarms = append(c.effects.Alarms, a) }
func (c *change) answer(a Answer) { c.effects.Answers = append(c.effects.Answers, a) }

// Apply changes s by the next record of its log. at is the record's append
// time in milliseconds by the broker's clock, 0 if the log has none. The state
// keeps byte slices of r. The effects are good until the next Apply.
func (s *State) Apply(r record.Record, at int64) *Effects {
	s.recycle()
	s.scratch.empty()
	c := change{State: s, effects: &s.scratch}
	c.tick(at)
	c.effects.Void = c.apply(r)
	return c.effects
}

// empty leaves the same slices with nothing in them: most records have effects,
// and nobody needs them after the next one.
func (fx *Effects) empty() {
	fx.Void, fx.Read = Effective, nil
	reuse(&fx.Entered)
	reuse(&fx.Left)
	reuse(&fx.Outputs)
	reuse(&fx.Answers)
	reuse(&fx.Arrivals)
	reuse(&fx.Changed)
	reuse(&fx.Reminders)
	reuse(&fx.Alarms)
}

func reuse[T any](s *[]T) {
	switch len(*s) {
	case 0:
		return
	case 1: // most, and sooner done than by clear
		(*s)[0] = *new(T)
	default:
		clear(*s)
	}
	*s = (*s)[:0]
}

// Skip passes a record that cannot be decoded (A59): all that it has is its
// time.
func (s *State) Skip(at int64) {
	c := change{State: s}
	c.tick(at)
}

// tick moves the log's own clock, which never goes back (H2).
func (s *State) tick(at int64) {
	if at > s.clock {
		s.clock = at
		s.forget()
	}
}

func (c *change) apply(r record.Record) Void {
	switch r := r.(type) {
	case *record.ClientRequest:
		return c.fromClient(r)
	case *record.Read:
		c.effects.Read = r
		return Effective
	case *record.Mail:
		return c.mail(r)
	case *record.Cancel:
		return c.cancel(r)
	case *record.Takeover:
		return c.takeover(r)
	default:
		return c.fromOwner(r)
	}
}

// fromOwner applies what owners write, each only in its epoch: a zombie's
// records land after the Takeover that ended it, and are void (R1).
func (c *change) fromOwner(r record.Record) Void {
	switch r := r.(type) {
	case *record.Issued:
		return c.of(r.Epoch, r.Link, func(e *Entry) Void { return c.issued(e, r.Call, r.Children, &r.Delta) })
	case *record.Write:
		return c.of(r.Epoch, r.Link, func(e *Entry) Void { return c.issued(e, r.Call, nil, &r.Delta) })
	case *record.Begun:
		return c.of(r.Epoch, r.Link, func(e *Entry) Void { return begun(e, r) })
	case *record.Failed:
		return c.of(r.Epoch, r.Link, func(e *Entry) Void { return failed(e, r) })
	case *record.Step:
		return c.of(r.Epoch, r.Link, func(e *Entry) Void { return c.step(e, r) })
	case *record.Expired:
		return c.during(r.Epoch, func() Void { return c.expired(r) })
	case *record.Forwarded:
		return c.during(r.Epoch, func() Void { return c.forwarded(r) })
	case *record.Undeliverable:
		return c.during(r.Epoch, func() Void { return c.undeliverable(r) })
	case *record.Fire:
		return c.during(r.Epoch, func() Void { return c.fire(r) })
	case *record.Ingest:
		return c.during(r.Epoch, func() Void { return c.ingest(r) })
	default:
		return VoidForeign
	}
}

// during is for records of an epoch.
func (c *change) during(epoch uint64, do func() Void) Void {
	if epoch != c.epoch {
		return VoidEpoch
	}
	return do()
}

// of is for records about a link: a copy finds the link gone, or another
// (R11), and the life tells a second one apart from the first (R25).
func (c *change) of(epoch uint64, link record.Link, do func(e *Entry) Void) Void {
	return c.during(epoch, func() Void {
		e := c.Lookup(link.ID)
		if e == nil || e.Link != link {
			return VoidLink
		}
		return do(e)
	})
}

// takeover begins the next epoch. Of two claims of one epoch the first in the
// log wins. The first of all settles what can never change.
func (c *change) takeover(r *record.Takeover) Void {
	switch {
	case r.Epoch != c.epoch+1:
		return VoidEpoch
	case c.epoch == 0:
		c.partitions, c.window = r.Partitions, r.Window
	case c.partitions != r.Partitions || c.window != r.Window:
		return VoidFixed
	}
	c.epoch = r.Epoch
	return Effective
}

// deadline is when a request that is first carried by this record must have
// begun: a relative bound counts from here, so that the sender's clock does not
// matter (A67); from here on the time itself travels, so that waiting in an
// outbox does not renew it (A81).
func (s *State) deadline(ttl, absolute int64) int64 {
	if ttl > 0 && s.clock > 0 {
		return s.clock + ttl
	}
	return absolute
}
