package actorstest

import (
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/backstay-go/backstay/actors/journal"
)

// TestStateStore checks that a store keeps the promises of journal.StateStore.
// open returns an empty one.
func TestStateStore(t *testing.T, open func(t *testing.T) journal.StateStore) {
	for _, p := range storePromises {
		t.Run(p.name, func(t *testing.T) {
			p.keep(&shelf{T: t, StateStore: open(t), p: journal.Partition{Type: LogType, Index: 1}})
		})
	}
}

var storePromises = []struct {
	name string
	keep func(s *shelf)
}{
	{"an actor that was never saved has no row", noRow},
	{"a row is what its changes have made of it", absoluteChanges},
	{"what was cleared is gone, and what came after is there", clearing},
	{"a row without a cell is gone", emptyRow},
	{"partitions and types are apart from each other", apartRows},
	{"a save as of a lower offset changes nothing", lateSave},
	{"a save as of a lower offset brings nothing back", lateSaveOfRemoved},
	{"a save may come again", repeatedSave},
	{"a save without changes counts", emptySave},
	{"of concurrent saves the highest stays", concurrentRows},
	{"names and values are bytes of any kind", oddBytes},
	{"large saves and rows are whole", largeSaves},
	{"actors are listed in order, page by page", listing},
}

// shelf is a store that is tested.
type shelf struct {
	*testing.T
	journal.StateStore
	p journal.Partition
}

func cell(name, value string) journal.Cell { return journal.Cell{Name: name, Value: []byte(value)} }
func gone(name string) journal.Cell        { return journal.Cell{Name: name, Removed: true} }

func changed(actor string, cells ...journal.Cell) journal.Change {
	return journal.Change{Actor: actor, Cells: cells}
}

func cleared(actor string, cells ...journal.Cell) journal.Change {
	return journal.Change{Actor: actor, Clear: true, Cells: cells}
}

func (s *shelf) save(at int64, changes ...journal.Change) {
	s.Helper()
	if err := s.Save(s.Context(), s.p, at, changes); err != nil {
		s.Fatalf("Save as of %d: %v", at, err)
	}
}

// late saves what may be refused or ignored.
func (s *shelf) late(at int64, changes ...journal.Change) {
	_ = s.Save(s.Context(), s.p, at, changes) // either is right
}

// row checks a row; no cells means that there is none.
func (s *shelf) row(actor string, at int64, cells ...journal.Cell) {
	s.Helper()
	r, found, err := s.Load(s.Context(), s.p, actor)
	switch {
	case err != nil:
		s.Fatalf("Load %q: %v", actor, err)
	case found != (len(cells) > 0):
		s.Errorf("%q has a row: %v, %+v", actor, found, r)
	case found && (r.At != at || !reflect.DeepEqual(r.Cells, cells)):
		s.Errorf("%q is %v as of %d, want %v as of %d", actor, r.Cells, r.At, cells, at)
	}
}

func (s *shelf) savedIs(want int64) {
	s.Helper()
	if got, err := s.Saved(s.Context(), s.p); err != nil || got != want {
		s.Errorf("saved as of %d, %v, want %d", got, err, want)
	}
}

func noRow(s *shelf) {
	s.row("a", 0)
	s.savedIs(0)
	s.save(3, changed("b", cell("x", "1")))
	s.row("a", 0)
}

func absoluteChanges(s *shelf) {
	s.save(10, changed("a", cell("x", "1"), cell("y", "2")), changed("b", cell("x", "3")))
	s.row("a", 10, cell("x", "1"), cell("y", "2"))
	s.save(20, changed("a", cell("w", "0"), gone("x"), cell("y", "4"), gone("z")))
	s.row("a", 20, cell("w", "0"), cell("y", "4"))
	s.row("b", 10, cell("x", "3"))
	s.savedIs(20)
}

func clearing(s *shelf) {
	s.save(1, changed("a", cell("x", "1"), cell("y", "2")))
	s.save(2, cleared("a", cell("y", "3")))
	s.row("a", 2, cell("y", "3"))
	s.save(3, cleared("new", cell("y", "3")), cleared("nothing"))
	s.row("new", 3, cell("y", "3"))
	s.row("nothing", 0)
}

func emptyRow(s *shelf) {
	s.save(1, changed("a", cell("x", "1")), changed("b", cell("x", "1")), changed("c", cell("x", "1")))
	s.save(2, changed("a", gone("x")), cleared("b"), changed("never", gone("x")))
	for _, actor := range []string{"a", "b", "never"} {
		s.row(actor, 0)
	}
	s.save(3, changed("a", cell("y", "2")))
	s.row("a", 3, cell("y", "2"))
	s.lists("", 10, "a", "c")
}

func apartRows(s *shelf) {
	s.save(5, changed("a", cell("x", "1")))
	for _, other := range []journal.Partition{{Type: LogType}, {Type: OtherType, Index: 1}, {Type: LogType, Index: 11}} {
		apart := &shelf{T: s.T, StateStore: s.StateStore, p: other}
		apart.row("a", 0)
		apart.savedIs(0)
		apart.save(1, changed("a", cell("x", other.String())))
		apart.row("a", 1, cell("x", other.String()))
		apart.lists("", 10, "a")
	}
	s.row("a", 5, cell("x", "1"))
}

func lateSave(s *shelf) {
	s.save(10, changed("a", cell("x", "new")))
	s.late(9, changed("a", cell("x", "old"), cell("y", "old")), changed("b", cell("x", "old")))
	s.row("a", 10, cell("x", "new"))
	s.row("b", 0)
	s.savedIs(10)
	s.save(11, changed("a", cell("x", "newer")))
	s.row("a", 11, cell("x", "newer"))
}

func lateSaveOfRemoved(s *shelf) {
	s.save(5, changed("a", cell("x", "1")))
	s.save(10, cleared("a"))
	s.late(9, changed("a", cell("x", "2")))
	s.row("a", 0)
	s.lists("", 10)
}

func repeatedSave(s *shelf) {
	s.save(4, changed("a", cell("x", "1")))
	for range 2 {
		s.save(7, changed("a", cell("y", "2"), gone("x")), cleared("b", cell("x", "3")))
		s.row("a", 7, cell("y", "2"))
		s.row("b", 7, cell("x", "3"))
		s.savedIs(7)
	}
}

func emptySave(s *shelf) {
	s.save(7)
	s.savedIs(7)
	s.late(6, changed("a", cell("x", "1")))
	s.row("a", 0)
}

func concurrentRows(s *shelf) {
	const saves, actors = 16, 40
	var all sync.WaitGroup
	for at := range int64(saves) {
		all.Go(func() {
			changes := make([]journal.Change, actors)
			for i := range changes {
				changes[i] = cleared(fmt.Sprintf("%02d", i), cell("x", fmt.Sprint(at+1)))
			}
			s.late(at+1, changes...)
		})
	}
	all.Wait()
	s.savedIs(saves)
	for i := range actors {
		s.row(fmt.Sprintf("%02d", i), saves, cell("x", fmt.Sprint(saves)))
	}
}

func oddBytes(s *shelf) {
	odd := "\x00\xff {}*:/\n"
	cells := []journal.Cell{{Name: odd, Value: []byte(odd)}, {Name: "at", Value: []byte("1")}, {Name: "é", Value: []byte("\xff\xfe")}}
	s.save(1, changed(odd, cells...), changed("{x}", cell("a", "1")), changed("{y}", cell("a", "2")))
	s.row(odd, 1, cells...)
	s.row("{x}", 1, cell("a", "1"))
	s.lists("", 10, odd, "{x}", "{y}")
}

func largeSaves(s *shelf) {
	const actors, wide = 3000, 20_000
	changes := make([]journal.Change, 0, actors+1)
	for i := range actors {
		changes = append(changes, changed(fmt.Sprintf("%05d", i), cell("x", fmt.Sprint(i))))
	}
	big := journal.Change{Actor: "big"}
	for i := range wide {
		big.Cells = append(big.Cells, cell(fmt.Sprintf("%06d", i), "some value"))
	}
	big.Cells[7].Value = make([]byte, 2<<20)
	s.save(1, append(changes, big)...)
	for i := 0; i < actors; i += 371 {
		s.row(fmt.Sprintf("%05d", i), 1, cell("x", fmt.Sprint(i)))
	}
	s.row("big", 1, big.Cells...)
	s.savedIs(1)
}

func listing(s *shelf) {
	s.save(1, changed("c", cell("x", "1")), changed("a", cell("x", "1")), changed("b/1", cell("x", "1")), changed("b", cell("x", "1")))
	s.lists("", 3, "a", "b", "b/1")
	s.lists("b", 3, "b/1", "c")
	s.lists("b/", 1, "b/1")
	s.lists("c", 3)
}

func (s *shelf) lists(after string, limit int, want ...string) {
	s.Helper()
	got, err := s.List(s.Context(), s.p, after, limit)
	if err != nil || len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
		s.Errorf("after %q: %q, %v, want %q", after, got, err, want)
	}
}
