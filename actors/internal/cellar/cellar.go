package cellar

import (
	"context"
	"errors"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// Cellar has the saved cells of the actors of one partition. It is safe for
// concurrent use; of Save only one runs at a time.
type Cellar interface {
	// Known returns the cells of an actor if that takes no waiting.
	Known(actor string) (Row, bool)
	// Load returns the cells of an actor.
	Load(ctx context.Context, actor string) (Row, error)
	// List returns the first actors after an id that have cells, in the order of
	// their ids: fewer than limit if there are no more.
	List(ctx context.Context, after string, limit int) ([]Saved, error)
	// Save makes changes durable, and then the manifest, to which it adds the
	// chunks. It may be tried again, with more changes and at a higher offset.
	Save(ctx context.Context, m journal.Manifest, changes []machine.Change) error
}

// Row is the saved state of an actor, which is the caller's.
type Row struct {
	// At is an offset as of which, at the earliest, it is what it is: an owner
	// that has not applied so much is out of date.
	At int64
	// Cells are sorted by name.
	Cells []record.Cell
}

// Saved is an actor of a list.
type Saved struct {
	Actor string
	Cells []record.Cell
}

// ErrOutdated is that of a save as of an offset below what another owner has
// saved.
var ErrOutdated = errors.New("cellar: a newer snapshot was saved by another owner")

// ErrLost matches errors about cells that should be there.
var ErrLost = errors.New("cellar: cells are missing")
