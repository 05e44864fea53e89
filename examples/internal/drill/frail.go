package drill

import (
	"context"

	"github.com/backstay-go/backstay/actors/journal"
)

// Log returns a log whose process dies with the fuse: while it takes a partition
// over, appends, or saves.
func (f *Fuse) Log(l journal.Log) journal.Log { return frail{l, f} }

type frail struct {
	journal.Log
	fuse *Fuse
}

// Append tells of an entry that is on record before the owner hears of it.
func (l frail) Append(p journal.Partition, data []byte, done func(journal.Place, error)) {
	l.Log.Append(p, data, func(at journal.Place, err error) {
		if err == nil {
			l.fuse.Reach("appended " + p.String())
		}
		done(at, err)
	})
}

// Read is the second thing that an owner to be does.
func (l frail) Read(p journal.Partition, from int64, wake func()) (journal.Reader, error) {
	l.fuse.Reach("read " + p.String())
	return l.Log.Read(p, from, wake)
}

// Manifest is the first.
func (l frail) Manifest(ctx context.Context, p journal.Partition) (journal.Manifest, bool, error) {
	l.fuse.Reach("manifest " + p.String())
	return l.Log.Manifest(ctx, p)
}

// Save may die beside the writing.
func (l frail) Save(ctx context.Context, p journal.Partition, m journal.Manifest, chunks map[journal.Chunk][]byte) error {
	go l.fuse.Reach("saving " + p.String())
	return l.Log.Save(ctx, p, m, chunks)
}
