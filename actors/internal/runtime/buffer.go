package runtime

import (
	"cmp"
	"slices"
	"strings"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// buffer is what an attempt has in its hands: changes and calls that go with
// its next record, tells and letters that go with its step.
type buffer struct {
	delta   record.Delta // one change for a cell or reminder: the last
	tells   []record.Call
	letters []record.Posted
	calls   []record.Call
	size    int // about how many bytes it is
}

// idle reports whether nothing in it waits for the next record: so an attempt
// that awaits can be parked (H18). Tells and letters are no state of the actor
// and wait for the step.
func (b *buffer) idle() bool { return len(b.calls) == 0 && b.unchanged() }

func (b *buffer) unchanged() bool {
	return !b.delta.Clear && len(b.delta.Cells) == 0 && len(b.delta.Reminders) == 0
}

// cell finds a change of a cell; cleared means that what is not found is gone.
func (b *buffer) cell(name string) (c *record.Cell, cleared bool) {
	for i := range b.delta.Cells {
		if b.delta.Cells[i].Name == name {
			return &b.delta.Cells[i], b.delta.Clear
		}
	}
	return nil, b.delta.Clear
}

func (b *buffer) write(c record.Cell) {
	b.size += len(c.Name) + len(c.Value)
	if old, _ := b.cell(c.Name); old != nil {
		b.size -= len(old.Name) + len(old.Value)
		*old = c
		return
	}
	b.size += fieldBytes
	b.delta.Cells = append(b.delta.Cells, c)
}

func (b *buffer) remind(r record.Reminder) {
	b.size += len(r.Name) + len(r.Args) + len(r.Baggage)
	for i := range b.delta.Reminders {
		if b.delta.Reminders[i].Name == r.Name {
			b.delta.Reminders[i] = r
			return
		}
	}
	b.delta.Reminders = append(b.delta.Reminders, r)
}

// clear drops the changes made so far: they come to nothing.
func (b *buffer) clear() { b.delta = record.Delta{Clear: true} }

// changes takes the changes out.
func (b *buffer) changes() record.Delta {
	d := b.delta
	b.delta = record.Delta{}
	b.size = 0
	for i := range b.tells {
		b.size += sizeOf(&b.tells[i])
	}
	for i := range b.letters {
		b.size += len(b.letters[i].Value)
	}
	return d
}

// over lays the changes over the applied cells of one prefix, sorted by name.
func (b *buffer) over(applied []record.Cell, prefix string) []record.Cell {
	if b.delta.Clear {
		applied = nil
	}
	for _, c := range b.delta.Cells {
		if !strings.HasPrefix(c.Name, prefix) {
			continue
		}
		i, found := slices.BinarySearchFunc(applied, c.Name, func(x record.Cell, name string) int { return cmp.Compare(x.Name, name) })
		switch {
		case found && c.Removed:
			applied = slices.Delete(applied, i, i+1)
		case found:
			applied[i] = c
		case !c.Removed:
			applied = slices.Insert(applied, i, c)
		}
	}
	return applied
}

// overhead is about what a request has beside its words.
const overhead = 256

func sizeOf(c *record.Call) int {
	return len(c.Target.Actor) + len(c.Method) + len(c.Args) + len(c.Name) + len(c.Baggage) + overhead
}
