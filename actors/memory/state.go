package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/backstay-go/backstay/actors/journal"
)

// Store is a [journal.StateStore] in memory, for tests: it lives as long as the
// process. Make it with [NewStore]. A [Log] needs none: it keeps the states of
// actors with its snapshots, and one of [Open] keeps those in files.
type Store struct {
	mu  sync.Mutex
	all map[journal.Partition]*shelf
}

var _ journal.StateStore = (*Store)(nil)

// shelf is what is stored of a partition.
type shelf struct {
	begun, saved int64
	rows         map[string]journal.Row
}

// NewStore returns an empty Store.
func NewStore() *Store { return &Store{all: make(map[journal.Partition]*shelf)} }

// shelf returns that of a partition. mu is held.
func (s *Store) shelf(p journal.Partition) *shelf {
	if s.all[p] == nil {
		s.all[p] = &shelf{rows: make(map[string]journal.Row)}
	}
	return s.all[p]
}

// Load returns a row.
func (s *Store) Load(_ context.Context, p journal.Partition, actor string) (journal.Row, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, found := s.shelf(p).rows[actor]
	return copied(r), found, nil
}

// List returns the first actors after an id that have rows.
func (s *Store) List(_ context.Context, p journal.Partition, after string, limit int) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Sorted(maps.Keys(s.shelf(p).rows))
	from, found := slices.BinarySearch(all, after)
	if found {
		from++
	}
	return all[from:min(from+limit, len(all))], nil
}

// Saved is how far the last Save went.
func (s *Store) Saved(_ context.Context, p journal.Partition) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shelf(p).saved, nil
}

// Save changes all rows in one act.
func (s *Store) Save(_ context.Context, p journal.Partition, at int64, changes []journal.Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	on := s.shelf(p)
	if at < on.begun {
		return fmt.Errorf("memory: the rows of %v are as of %d already, not to be written as of %d", p, on.begun, at)
	}
	on.begun, on.saved = at, at
	for i := range changes {
		c := &changes[i]
		r := journal.Row{At: at}
		if !c.Clear {
			r.Cells = on.rows[c.Actor].Cells
		}
		if r.Cells = laid(r.Cells, c.Cells); len(r.Cells) == 0 {
			delete(on.rows, c.Actor)
			continue
		}
		on.rows[c.Actor] = copied(r)
	}
	return nil
}

// laid is cells with changes, both sorted by name.
func laid(cells, changes []journal.Cell) []journal.Cell {
	all := slices.Clone(cells)
	for _, c := range changes {
		i, found := slices.BinarySearchFunc(all, c.Name, func(c journal.Cell, name string) int { return cmp.Compare(c.Name, name) })
		switch {
		case found && c.Removed:
			all = slices.Delete(all, i, i+1)
		case found:
			all[i] = c
		case !c.Removed:
			all = slices.Insert(all, i, c)
		}
	}
	return all
}

// copied is a row that shares nothing.
func copied(r journal.Row) journal.Row {
	r.Cells = slices.Clone(r.Cells)
	for i := range r.Cells {
		r.Cells[i].Value = slices.Clone(r.Cells[i].Value)
	}
	return r
}
