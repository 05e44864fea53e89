package redis

import "github.com/backstay-go/backstay/actors/journal"

// What bounds a part of a save, so that Redis is never long at one thing.
const (
	mostRows  = 500
	mostCells = 1000 // of one row: Lua's stack is bounded
	mostBytes = 512 << 10
)

// batch is a part of a save.
type batch struct {
	keys []string
	args []any
	size int
}

func (b *batch) full() bool { return len(b.keys) >= mostRows || b.size >= mostBytes }

// batches cuts a save into parts, at least one, and large rows into several.
func (s *Store) batches(p journal.Partition, changes []journal.Change) []batch {
	all := []batch{{}}
	for i := range changes {
		c := changes[i]
		for first := true; first || len(c.Cells) > 0; first = false {
			last := &all[len(all)-1]
			if last.full() {
				all = append(all, batch{})
				last = &all[len(all)-1]
			}
			last.keys = append(last.keys, s.row(p, c.Actor))
			c.Cells = last.add(c.Actor, c.Clear && first, c.Cells)
		}
	}
	return all
}

// add adds a row, as far as there is room, and returns what is left of it. A
// large row is added again, so that it cannot become empty in between.
func (b *batch) add(actor string, cleared bool, cells []journal.Cell) (rest []journal.Cell) {
	var set, remove []any
	n := 0
	for ; n < len(cells) && n < mostCells && (n == 0 || b.size < mostBytes); n++ {
		c := &cells[n]
		b.size += len(c.Name) + len(c.Value)
		if c.Removed {
			remove = append(remove, c.Name)
		} else {
			set = append(set, c.Name, c.Value)
		}
	}
	b.size += len(actor)
	mark := 0
	if cleared {
		mark = 1
	}
	b.args = append(b.args, actor, mark, len(set)/2)
	b.args = append(append(b.args, set...), len(remove))
	b.args = append(b.args, remove...)
	return cells[n:]
}
