package machine

import (
	"bytes"
	"slices"
	"strings"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// The cells of actors that nobody uses are not in memory: the log says what
// changed, and only that is a part of the state. It lies, in layers, over what
// was saved elsewhere, which is attached to the actors that are in use. No
// record is applied differently for what is attached: to apply reads no cells.

// Change is what records have made of an actor's cells.
type Change struct {
	Actor string
	// Clear says that no cell is left but those below.
	Clear bool
	// Cells are sorted by name; Removed ones are gone.
	Cells []record.Cell
}

// Over is what a change makes of cells, sorted by name. It changes neither.
func (c *Change) Over(cells []record.Cell) []record.Cell {
	return layer{c.Clear, c.Cells}.over(layer{opaque: true, cells: cells}).cells
}

// layers are the cells of one actor, the uppermost first.
type layers struct {
	fresh layer // changed since the last Capture
	taken layer // captured, and not known to be saved
	saved layer // attached; until then, what was saved since Expect
	base  attachment
	bytes int // of saved
}

// attachment says whether saved is all that lies below.
type attachment uint8

const (
	absent attachment = iota
	expected
	attached
)

// forgotten reports whether nothing is left to know.
func (c *layers) forgotten() bool { return c.base == absent && c.fresh.empty() && c.taken.empty() }

// layer is cells, sorted by name, over others.
type layer struct {
	opaque bool // what lies below is gone
	cells  []record.Cell
}

func (l *layer) empty() bool { return !l.opaque && len(l.cells) == 0 }

func (l *layer) find(name string) (int, bool) {
	from, to := 0, len(l.cells)
	for from < to { // without a copy of each cell it looks at
		if middle := (from + to) / 2; l.cells[middle].Name < name {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return from, from < len(l.cells) && l.cells[from].Name == name
}

// put changes a cell. What is removed is remembered only where something may
// lie below.
func (l *layer) put(c record.Cell) {
	i, found := l.find(c.Name)
	switch {
	case c.Removed && l.opaque && found:
		l.cells = slices.Delete(l.cells, i, i+1)
	case c.Removed && l.opaque:
	case found:
		l.cells[i] = c
	default:
		l.cells = slices.Insert(l.cells, i, c)
	}
}

// over is l laid over another layer. Neither changes.
func (l layer) over(below layer) layer {
	if l.opaque || below.empty() {
		return l
	}
	all := layer{opaque: below.opaque, cells: make([]record.Cell, 0, len(l.cells)+len(below.cells))}
	i := 0
	for _, c := range l.cells {
		for ; i < len(below.cells) && below.cells[i].Name < c.Name; i++ {
			all.cells = append(all.cells, below.cells[i])
		}
		if i < len(below.cells) && below.cells[i].Name == c.Name {
			i++
		}
		if !c.Removed || !all.opaque {
			all.cells = append(all.cells, c)
		}
	}
	all.cells = append(all.cells, below.cells[i:]...)
	return all
}

// own is the same layer in memory of its own: names and values that came with a
// record would keep all of the record's bytes.
func (l layer) own() layer {
	cells := slices.Clone(l.cells)
	for i := range cells {
		cells[i].Name, cells[i].Value = strings.Clone(cells[i].Name), bytes.Clone(cells[i].Value)
	}
	return layer{l.opaque, cells}
}

// Cell returns a value of an actor's persisted state, as far as that is known:
// see [State.Complete]. It must not be changed.
func (s *State) Cell(actor, name string) ([]byte, bool) {
	c := s.residents[actor]
	if c == nil {
		return nil, false
	}
	for _, l := range [...]*layer{&c.fresh, &c.taken, &c.saved} {
		if i, found := l.find(name); found {
			return l.cells[i].Value, !l.cells[i].Removed
		}
		if l.opaque {
			break
		}
	}
	return nil, false
}

// Cells returns the cells of an actor whose names begin with prefix, sorted by
// name, as far as they are known. The slice is the caller's, the values are
// not.
func (s *State) Cells(actor, prefix string) []record.Cell {
	c := s.residents[actor]
	if c == nil {
		return nil
	}
	seen := c.fresh.with(prefix).over(c.taken.with(prefix).over(c.saved.with(prefix)))
	all := make([]record.Cell, 0, len(seen.cells))
	for _, cell := range seen.cells {
		if !cell.Removed {
			all = append(all, cell)
		}
	}
	return all
}

// Overlay is what is known of an actor's cells, as a change of what was saved. The
// slice is the caller's, the values are not.
func (s *State) Overlay(actor string) Change {
	c := s.residents[actor]
	if c == nil {
		return Change{Actor: actor}
	}
	l := c.fresh.over(c.taken.over(c.saved))
	return Change{Actor: actor, Clear: l.opaque, Cells: slices.Clone(l.cells)}
}

// with is the part of a layer whose names begin with prefix.
func (l layer) with(prefix string) layer {
	from, _ := l.find(prefix)
	to := from
	for to < len(l.cells) && len(l.cells[to].Name) >= len(prefix) && l.cells[to].Name[:len(prefix)] == prefix {
		to++
	}
	return layer{l.opaque, l.cells[from:to]}
}

// freshen is the layer of an actor that records change.
func (s *State) freshen(actor string, r *resident) *layer {
	if r.fresh.empty() {
		s.changed = append(s.changed, actor)
	}
	return &r.fresh
}

// Complete reports whether all cells of an actor are known: they are attached,
// or were cleared since they were saved.
func (s *State) Complete(actor string) bool {
	c := s.residents[actor]
	return c != nil && (c.base == attached || c.fresh.opaque || c.taken.opaque)
}

// Expect says that the saved cells of an actor are being fetched, to be
// attached later: what is saved meanwhile may or may not be among them, and is
// kept.
func (s *State) Expect(actor string) {
	if c := s.resident(actor); c.base == absent {
		c.base = expected
	}
}

// Attach gives an actor what was saved of it: all of its cells, sorted by name,
// as of any record between the last Capture that was [State.Saved] and the last
// one applied. It takes them over. What is attached already stays.
func (s *State) Attach(actor string, saved []record.Cell) {
	c := s.resident(actor)
	c.saved = c.saved.over(layer{opaque: true, cells: saved})
	c.base = attached
	c.measure()
}

// Detach takes away what was attached to an actor.
func (s *State) Detach(actor string) {
	c := s.residents[actor]
	if c == nil {
		return
	}
	c.base, c.saved, c.bytes = absent, layer{}, 0
	s.shed(actor, c)
}

// Attached is about how many bytes are attached to an actor.
func (s *State) Attached(actor string) int {
	if c := s.residents[actor]; c != nil {
		return c.bytes
	}
	return 0
}

func (c *layers) measure() {
	const header = 48 // of a cell
	c.bytes = 0
	for i := range c.saved.cells {
		c.bytes += len(c.saved.cells[i].Name) + len(c.saved.cells[i].Value) + header
	}
}

// Capture takes what has changed since the last Capture, to be saved as of the
// last record that was applied, and costs as much. The cells must not be
// changed. The next one comes after [State.Saved] or [State.Unsaved].
func (s *State) Capture() []Change {
	slices.Sort(s.changed)
	s.taken, s.changed = s.changed, nil
	all := make([]Change, len(s.taken))
	for i, actor := range s.taken {
		c := s.residents[actor]
		c.taken, c.fresh = c.fresh, layer{}
		all[i] = Change{Actor: actor, Clear: c.taken.opaque, Cells: c.taken.cells}
	}
	return all
}

// Saved says that what was captured is durable, and need not be known any more.
func (s *State) Saved() {
	for _, actor := range s.taken {
		c := s.residents[actor]
		if c.base != absent {
			c.saved = c.taken.own().over(c.saved)
			c.measure()
		}
		c.taken = layer{}
		s.shed(actor, c)
	}
	s.taken = nil
}

// Unsaved says that what was captured may not be durable: it is a part of what
// is captured next.
func (s *State) Unsaved() {
	for _, actor := range s.taken {
		c := s.residents[actor]
		if c.fresh.empty() {
			s.changed = append(s.changed, actor)
		}
		c.fresh, c.taken = c.fresh.over(c.taken), layer{} // a new one: whoever saves may still read the old
	}
	s.taken = nil
}
