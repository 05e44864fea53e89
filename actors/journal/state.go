package journal

import "context"

// StateStore keeps the cells of actors outside of snapshots, a row for every
// actor that has some. It is for states that are large beside what changes of
// them: to save costs what changed, to load costs one row.
//
// # The promise of a store
//
// What is in a row is, like a snapshot, a function of the log up to some
// offset, whoever wrote it. Nobody writes a row that was written as of a higher
// offset, or what such a row leaves out. So owners that are out of date may
// save as late as they like.
//
// A store is safe for concurrent use.
type StateStore interface {
	// Load returns the row of an actor, and false if it has none. The row is
	// the caller's.
	Load(ctx context.Context, p Partition, actor string) (Row, bool, error)
	// List returns the first actors after an id that have rows, in the order of
	// the bytes of their ids: fewer than limit if there are no more.
	List(ctx context.Context, p Partition, after string, limit int) ([]string, error)
	// Save changes the rows of different actors as of the offset at, all
	// durable when it returns nil; after an error each may be changed or not.
	// A row that has no cell left is removed.
	//
	// From when a Save has changed its first row until for ever, one of a
	// lower at changes nothing more in that partition, and returns nil or an
	// error. One of the same at has the same changes and may come again.
	Save(ctx context.Context, p Partition, at int64, changes []Change) error
	// Saved is the highest at of the saves that have ended well, 0 if none has.
	Saved(ctx context.Context, p Partition) (int64, error)
}

// Row is the state of an actor.
type Row struct {
	// At is the offset as of which it was last changed.
	At int64
	// Cells are sorted by name.
	Cells []Cell
}

// Cell is a value by its name.
type Cell struct {
	Name  string
	Value []byte
	// Removed says, in a [Change], that the cell is gone.
	Removed bool
}

// Change is what becomes of the row of one actor.
type Change struct {
	Actor string
	// Clear removes all cells but those below.
	Clear bool
	// Cells are sorted by name, each with its new value or Removed.
	Cells []Cell
}
