package machine

import "github.com/backstay-go/backstay/actors/internal/record"

// commit applies what an invocation changed of its actor.
func (c *change) commit(actor string, d *record.Delta) {
	if d.Clear {
		c.clear(actor)
	}
	for i := range d.Cells {
		c.write(actor, &d.Cells[i])
	}
	if d.Clear || len(d.Cells) > 0 {
		c.effects.Changed = append(c.effects.Changed, actor)
	}
	for i := range d.Reminders {
		c.remind(actor, Reminder{Reminder: d.Reminders[i]})
	}
}

// clear removes an actor's cells and reminders. Requests that wait for their
// time stay: they were accepted (P4).
func (c *change) clear(actor string) {
	delete(c.cells, actor)
	for _, name := range sortedKeys(c.reminders[actor]) {
		c.remind(actor, Reminder{Reminder: record.Reminder{Name: name}})
	}
}

func (s *State) write(actor string, cell *record.Cell) {
	cells := s.cells[actor]
	if cell.Removed {
		if delete(cells, cell.Name); len(cells) == 0 {
			delete(s.cells, actor)
		}
		return
	}
	if cells == nil {
		cells = make(map[string][]byte)
		s.cells[actor] = cells
	}
	cells[cell.Name] = cell.Value
}
