package journal

import "context"

// Snapshots keep the states of partitions as of some offset, in chunks, so
// that an owner need not read a log from its beginning. Their content is a
// pure function of the log: it does not matter who wrote one.
type Snapshots interface {
	// Manifest returns the snapshot that is as of the highest offset among the
	// complete ones, and false if there is none.
	Manifest(ctx context.Context, p Partition) (Manifest, bool, error)
	// Chunk returns one chunk of a snapshot.
	Chunk(ctx context.Context, p Partition, c Chunk) ([]byte, error)
	// Save writes the chunks that are new, then the manifest, all durable when
	// it returns. Chunks that no complete snapshot at or above m.At needs may
	// be dropped afterwards; those of a newer snapshot never.
	Save(ctx context.Context, p Partition, m Manifest, chunks map[Chunk][]byte) error
}

// Manifest says what a snapshot is made of.
type Manifest struct {
	// At is the offset of the next entry to apply.
	At int64
	// Core is all but the chunks.
	Core []byte
	// Chunks are the parts, in the order of their numbers.
	Chunks []Chunk
}

// Chunk names a part of a snapshot: its number, and the offset as of which it
// was last written, which may be below that of the snapshot.
type Chunk struct {
	Number uint32
	At     int64
}
