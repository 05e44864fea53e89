package journal

import (
	"context"
	"errors"
)

// Errors that a Log's own errors match.
var (
	// ErrOutOfRange: the log no longer has the offset. Its reader has lost the
	// partition to somebody who read on and cut it off.
	ErrOutOfRange = errors.New("journal: offset out of range")
	// ErrTooLarge: the broker refuses an entry of this size for good.
	ErrTooLarge = errors.New("journal: entry too large")
	// ErrNoType: there is no log for this type of actors.
	ErrNoType = errors.New("journal: no log for this type")
	// ErrClosed: the Log was closed.
	ErrClosed = errors.New("journal: closed")
)

// Log is a set of partitions, with what belongs to them. It is safe for
// concurrent use.
type Log interface {
	Partitions
	Topics
	Answers
	Snapshots
	// Join makes this process one of those that partitions are shared out to.
	// ctx bounds the joining only.
	Join(ctx context.Context, m Member) (Membership, error)
	// Close gives everything back. What is outstanding ends with ErrClosed.
	Close() error
}

// Partitions are the logs themselves.
type Partitions interface {
	// Count is the number of partitions of a type of actors, fixed for ever.
	// Its error matches ErrNoType if the type has no log.
	Count(ctx context.Context, actorType string) (uint32, error)
	// Append adds an entry. It takes data over, queues it and returns; done is
	// called once, with the place of the entry or with an error. Appends of one
	// Log to one partition keep their order, but those behind a failed one may
	// land. After an error the entry may have landed, or land later, unless
	// the error matches ErrTooLarge or ErrNoType.
	Append(p Partition, data []byte, done func(Place, error))
	// Read opens a reader whose first entry has the offset from, or the next
	// one that exists. wake is called whenever Poll may have something new.
	Read(p Partition, from int64, wake func()) (Reader, error)
	// Bounds are the offset of the first entry that is there, and the one that
	// the next entry will have.
	Bounds(ctx context.Context, p Partition) (first, next int64, err error)
	// Truncate drops the entries below an offset. It need not be at once.
	Truncate(ctx context.Context, p Partition, below int64) error
}

// Place is where an entry landed.
type Place struct {
	Offset int64
	// At is the time of the append in milliseconds since 1970, by the clock of
	// the log; 0 if the log has none, or does not tell: then the
	// acknowledgement does not stand for reading the entry.
	At int64
}

// Entry is what a reader gets. Data must not be changed, and stays good.
type Entry struct {
	Place
	Data []byte
}

// Reader reads a partition onwards. It is for one goroutine.
type Reader interface {
	// Poll returns the next entries, none if there are none yet, without
	// waiting. It returns entries that are within about maxBytes together, at
	// least one. An error matches ErrOutOfRange, or is worth another try.
	Poll(maxBytes int) ([]Entry, error)
	// Close ends it. A call of wake that is under way may end after it.
	Close()
}
