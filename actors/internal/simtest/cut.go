package simtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/backstay-go/backstay/actors/internal/cellar"
	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// asOf is what the log says as of an offset: a state that was saved nowhere, so
// that all cells are in it, and the actors that ever had some. It goes on from
// the last one where it can.
func (l *ledger) asOf(at int64) (s *machine.State, actors []string) {
	if l.cut == nil || l.cutAt > at {
		l.cut, l.cutAt = machine.New(l.self), 0
	}
	for i := range l.log[l.cutAt:at] {
		apply(l.cut, &l.log[l.cutAt+int64(i)])
	}
	l.cutAt = at
	for _, c := range l.cut.Capture() {
		actors = append(actors, c.Actor)
	}
	l.cut.Unsaved()
	return l.cut, actors
}

func apply(s *machine.State, e *journal.Entry) {
	r, err := record.Decode(e.Data)
	if errors.Is(err, record.ErrCorrupt) || errors.Is(err, record.ErrUnknown) {
		s.Skip(e.At)
		return
	}
	s.Apply(r, e.At)
}

// saving checks that a snapshot is what the log says. old returns chunks that
// were saved before.
func (j *Judge) saving(p record.Partition, m journal.Manifest, chunks map[journal.Chunk][]byte, old func(journal.Chunk) ([]byte, error)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	l := j.ledger(p)
	if m.At > int64(len(l.log)) {
		j.fail("H9: a snapshot of %v as of %d, where the log ends at %d", p, m.At, len(l.log))
		return
	}
	s, actors := l.asOf(m.At)
	if !bytes.Equal(s.Core(), m.Core) {
		j.fail("H9: the snapshot of %v as of %d is not what the log says", p, m.At)
	}
	if len(m.Chunks) == 0 {
		return // the cells are in a store
	}
	have := make(map[string]bool)
	for _, c := range m.Chunks {
		b, fresh := chunks[c]
		if !fresh {
			var err error
			if b, err = old(c); err != nil {
				return // it will be refused: somebody else was faster
			}
		}
		err := cellar.Actors(b, func(actor string, cells []record.Cell) {
			if have[actor] {
				j.fail("H9: %s of %v is in two chunks as of %d", actor, p, m.At)
			}
			have[actor] = true
			j.same(s, actor, cells, fmt.Sprintf("chunk %d as of %d, of %v as of %d", c.Number, c.At, p, m.At))
		})
		if err != nil {
			j.fail("H9: chunk %d of %v: %v", c.Number, p, err)
		}
	}
	for _, actor := range actors {
		if !have[actor] && len(s.Cells(actor, "")) > 0 {
			j.fail("H9: %s of %v is in no chunk as of %d", actor, p, m.At)
		}
	}
}

// same checks that what was saved of an actor is what the log says.
func (j *Judge) same(s *machine.State, actor string, saved []record.Cell, where string) {
	if want := s.Cells(actor, ""); !slices.EqualFunc(saved, want, func(a, b record.Cell) bool {
		return a.Name == b.Name && bytes.Equal(a.Value, b.Value)
	}) {
		j.fail("H9: %s of %s is %v, the log says %v", actor, where, saved, want)
	}
}

// stored checks the rows of a store after a save as of an offset: all that was
// ever saved whole must still be there.
func (j *Judge) stored(p record.Partition, at int64, store journal.StateStore) {
	j.mu.Lock()
	defer j.mu.Unlock()
	ctx, from := context.Background(), journal.Partition(p)
	l := j.ledger(p)
	if at > int64(len(l.log)) {
		j.fail("H9: rows of %v as of %d, where the log ends at %d", p, at, len(l.log))
		return
	}
	l.kept = max(l.kept, at)
	s, actors := l.asOf(l.kept)
	rows, _ := store.List(ctx, from, "", len(actors)+1) // in memory, it does not fail
	actors = append(actors, rows...)
	slices.Sort(actors)
	for _, actor := range slices.Compact(actors) {
		row, found, _ := store.Load(ctx, from, actor)
		if !found || row.At <= l.kept { // else some rows of a newer save
			cells := make([]record.Cell, len(row.Cells))
			for i, c := range row.Cells {
				cells[i] = record.Cell(c)
			}
			j.same(s, actor, cells, fmt.Sprintf("the store, %v as of %d", p, l.kept))
		}
	}
}

func (j *Judge) truncated(p journal.Partition, below, durable int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if below > durable {
		j.fail("H9: %v is cut off below %d, and its snapshot is as of %d", p, below, durable)
	}
}
