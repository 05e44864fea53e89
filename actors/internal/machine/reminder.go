package machine

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strconv"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/idempotency"
)

// Reminder is a durable alarm that is set.
type Reminder struct{ record.Reminder }

// remind sets or removes a reminder. A time that is not after the log's clock
// becomes the next instant: so a set is always newer than any tick ever fired,
// (actor, name, tick) is unique for ever, and copies of a Fire are void (R40).
func (c *change) remind(actor string, r Reminder) {
	named := c.reminders[actor]
	if r.Next == 0 {
		if _, set := named[r.Name]; !set {
			return
		}
		if delete(named, r.Name); len(named) == 0 {
			delete(c.reminders, actor)
		}
	} else {
		if named == nil {
			named = make(map[string]*Reminder)
			c.reminders[actor] = named
		}
		r.Next = max(r.Next, c.clock+1)
		r.Args, r.Baggage = bytes.Clone(r.Args), bytes.Clone(r.Baggage) // it may stay for years, its record must not
		named[r.Name] = &r
	}
	c.effects.Reminders = append(c.effects.Reminders, Due{Actor: actor, Name: r.Name, At: r.Next})
}

// fire makes a reminder's request: once, since the tick must be the one that
// is set (R38), and not early by the log's clock, whatever the owner's says
// (R39). The tick after it is the owner's choice; calendars do not run here.
func (c *change) fire(r *record.Fire) Void {
	if r.Name == "" {
		return c.release(r)
	}
	set := c.reminders[r.Target.Actor][r.Name]
	if set == nil || set.Next != r.Tick || c.clock < r.Tick {
		return VoidTick
	}
	next := *set
	c.acceptRequest(&record.Request{
		Link: record.Link{ID: r.ID}, Target: record.Address{Type: c.self.Type, Actor: r.Target.Actor, Index: c.self.Index},
		Method: set.Method, Args: set.Args, Missed: r.Missed, Baggage: set.Baggage,
		Key: idempotency.Derive(c.self.Type, r.Target.Actor, r.Name, strconv.FormatInt(r.Tick, 10)),
	})
	next.Next = r.Then
	c.remind(r.Target.Actor, next)
	return Effective
}

// release lets a request in whose time has come.
func (c *change) release(r *record.Fire) Void {
	waiting := c.delayed[r.ID]
	if waiting == nil || waiting.NotBefore != r.Tick || c.clock < r.Tick {
		return VoidTick
	}
	delete(c.delayed, r.ID)
	c.effects.Reminders = append(c.effects.Reminders, Due{Actor: waiting.Target.Actor, ID: r.ID})
	now := *waiting
	now.NotBefore = 0
	c.acceptRequest(&now)
	return Effective
}

// Reminder returns a reminder of an actor.
func (s *State) Reminder(actor, name string) (Reminder, bool) {
	if r := s.reminders[actor][name]; r != nil {
		return *r, true
	}
	return Reminder{}, false
}

// Due goes through all that is set and all that waits for its time, in order
// of time, so that a new owner can set its timers.
func (s *State) Due() iter.Seq[Due] {
	var all []Due
	for actor, named := range s.reminders {
		for name, r := range named {
			all = append(all, Due{Actor: actor, Name: name, At: r.Next})
		}
	}
	for id, r := range s.delayed {
		all = append(all, Due{Actor: r.Target.Actor, ID: id, At: r.NotBefore})
	}
	slices.SortFunc(all, func(a, b Due) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Actor, b.Actor), cmp.Compare(a.Name, b.Name), compareIDs(a.ID, b.ID))
	})
	return slices.Values(all)
}
