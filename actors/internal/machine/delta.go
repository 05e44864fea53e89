package machine

import "github.com/backstay-go/backstay/actors/internal/record"

// commit applies what an invocation changed of its actor.
func (c *change) commit(e *Entry, d *record.Delta) {
	actor := e.Target.Actor
	if d.Clear {
		c.clear(actor)
	}
	if d.Clear || len(d.Cells) > 0 {
		c.write(actor, e.resident, d)
		c.effects.Changed = append(c.effects.Changed, actor)
	}
	for i := range d.Reminders {
		c.remind(actor, Reminder{Reminder: d.Reminders[i]})
	}
}

// clear removes an actor's reminders. Requests that wait for their time stay:
// they were accepted (P4).
func (c *change) clear(actor string) {
	for _, name := range sortedKeys(c.reminders[actor]) {
		c.remind(actor, Reminder{Reminder: record.Reminder{Name: name}})
	}
}

// write lays a change over the actor's cells, without a look at them.
func (s *State) write(actor string, r *resident, d *record.Delta) {
	fresh := s.freshen(actor, r)
	if d.Clear {
		*fresh = layer{opaque: true}
	}
	for i := range d.Cells {
		fresh.put(d.Cells[i])
	}
}
