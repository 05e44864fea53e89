package cellar

import (
	"fmt"
	"slices"
	"strings"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/record/codec"
)

// page is a chunk: the rows of its actors, sorted by actor.
type page struct{ rows []row }

// row is the cells of one actor, encoded: most rows of a page are only looked
// past, or copied. Those that were read are parts of the chunk.
type row struct{ actor, cells []byte }

// Fields describes p.
func (p *page) Fields(w *codec.Walker) { codec.LongList(w, 1, &p.rows) }

// Fields describes r.
func (r *row) Fields(w *codec.Walker) {
	w.Bytes(1, &r.actor)
	w.Bytes(2, &r.cells)
}

func (r *row) size() int { return len(r.actor) + len(r.cells) + 8 }

// size is about how long the page is, encoded.
func (p *page) size() (n int) {
	for i := range p.rows {
		n += p.rows[i].size()
	}
	return n
}

// cellList is what a row has.
type cellList struct{ cells []record.Cell }

// Fields describes l.
func (l *cellList) Fields(w *codec.Walker) { codec.LongList(w, 1, &l.cells) }

func readPage(b []byte) (*page, error) {
	p := new(page)
	if err := codec.Decode(b, p); err != nil {
		return nil, fmt.Errorf("cellar: a chunk cannot be read: %w", err)
	}
	return p, nil
}

// Actors goes through what is in a chunk, for those who check it.
func Actors(chunk []byte, yield func(actor string, cells []record.Cell)) error {
	p, err := readPage(chunk)
	if err != nil {
		return err
	}
	for i := range p.rows {
		cells, err := p.rows[i].read()
		if err != nil {
			return err
		}
		yield(string(p.rows[i].actor), cells)
	}
	return nil
}

// read decodes the cells into memory of their own: they outlive the page.
func (r *row) read() ([]record.Cell, error) {
	var l cellList
	if err := codec.Decode(slices.Clone(r.cells), &l); err != nil {
		return nil, fmt.Errorf("cellar: the cells of %q cannot be read: %w", r.actor, err)
	}
	return l.cells, nil
}

func compare(r row, actor string) int { return strings.Compare(string(r.actor), actor) }

func (p *page) find(actor string) ([]record.Cell, error) {
	i, found := slices.BinarySearchFunc(p.rows, actor, compare)
	if !found {
		return nil, nil
	}
	return p.rows[i].read()
}

// with is the page with changes, which are sorted by actor. Rows that have no
// change are not looked into.
func (p *page) with(changes []machine.Change) (*page, error) {
	next := &page{rows: make([]row, 0, len(p.rows)+len(changes))}
	i := 0
	for k := range changes {
		c := &changes[k]
		for ; i < len(p.rows) && string(p.rows[i].actor) < c.Actor; i++ {
			next.rows = append(next.rows, p.rows[i])
		}
		var below []record.Cell
		if i < len(p.rows) && string(p.rows[i].actor) == c.Actor {
			var err error
			if below, err = p.rows[i].read(); err != nil {
				return nil, err
			}
			i++
		}
		if cells := c.Over(below); len(cells) > 0 {
			next.rows = append(next.rows, row{actor: []byte(c.Actor), cells: codec.Append(nil, &cellList{cells})})
		}
	}
	next.rows = append(next.rows, p.rows[i:]...)
	return next, nil
}
