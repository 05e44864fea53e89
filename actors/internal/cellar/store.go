package cellar

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// rows is a cellar in a state store.
type rows struct {
	log       journal.Snapshots
	store     journal.StateStore
	partition journal.Partition
	empty     atomic.Bool // all that was ever saved is in the log as well
}

// OverStore returns the cellar of a partition in a store. The newest snapshot
// is m, empty if there is none: the store must have what it counts on.
func OverStore(ctx context.Context, log journal.Snapshots, store journal.StateStore, p journal.Partition, m journal.Manifest) (Cellar, error) {
	if len(m.Chunks) > 0 {
		return nil, fmt.Errorf("%w: the snapshot of %v as of %d was made without a state store, and has %d chunks of cells; open it without one", ErrLost, p, m.At, len(m.Chunks))
	}
	saved, err := store.Saved(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("cellar: state store, %v: %w", p, err)
	}
	if saved < m.At {
		return nil, fmt.Errorf("%w: the state store knows %v as of %d, the snapshot is as of %d: it is another one, or has lost what it was told; restore it", ErrLost, p, saved, m.At)
	}
	r := &rows{log: log, store: store, partition: p}
	r.empty.Store(m.At == 0)
	return r, nil
}

// Known knows only that there is nothing yet.
func (r *rows) Known(string) (Row, bool) { return Row{}, r.empty.Load() }

// Load reads the row of an actor.
func (r *rows) Load(ctx context.Context, actor string) (Row, error) {
	stored, _, err := r.store.Load(ctx, r.partition, actor)
	if err != nil {
		return Row{}, fmt.Errorf("cellar: state store, %q of %v: %w", actor, r.partition, err)
	}
	all := Row{At: stored.At, Cells: make([]record.Cell, len(stored.Cells))}
	for i, c := range stored.Cells {
		all.Cells[i] = record.Cell{Name: c.Name, Value: c.Value}
	}
	return all, nil
}

// List reads the rows one by one: it is for people.
func (r *rows) List(ctx context.Context, after string, limit int) ([]Saved, error) {
	actors, err := r.store.List(ctx, r.partition, after, limit)
	if err != nil {
		return nil, fmt.Errorf("cellar: state store, %v: %w", r.partition, err)
	}
	all := make([]Saved, len(actors))
	for i, actor := range actors {
		row, err := r.Load(ctx, actor)
		if err != nil {
			return nil, err
		}
		all[i] = Saved{Actor: actor, Cells: row.Cells}
	}
	return all, nil
}

// Save writes the rows, and only then the manifest that counts on them.
func (r *rows) Save(ctx context.Context, m journal.Manifest, changes []machine.Change) error {
	r.empty.Store(false)
	stored := make([]journal.Change, len(changes))
	for i, c := range changes {
		stored[i] = journal.Change{Actor: c.Actor, Clear: c.Clear, Cells: make([]journal.Cell, len(c.Cells))}
		for k, cell := range c.Cells {
			stored[i].Cells[k] = journal.Cell(cell)
		}
	}
	if err := r.store.Save(ctx, r.partition, m.At, stored); err != nil {
		return fmt.Errorf("cellar: state store, %v as of %d: %w", r.partition, m.At, err)
	}
	return r.log.Save(ctx, r.partition, m, nil)
}
