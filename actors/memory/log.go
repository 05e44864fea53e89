package memory

import (
	"context"
	"fmt"
	"sync"

	"github.com/backstay-go/backstay/actors/journal"
)

// DefaultPartitions is the number of partitions of a type.
const DefaultPartitions = 16

// Log is a [journal.Log] in memory, of [New], or in memory and in files, of
// [Open]. It is safe for concurrent use.
type Log struct {
	count uint32

	mu         sync.RWMutex
	closed     bool
	partitions map[journal.Partition]*partition

	snapshots snapshots
	sources   sources
	listeners listeners
	group     group
	unsynced  bool
	disk      *disk // nil: nothing is kept
}

var _ journal.Log = (*Log)(nil)

// Option changes a Log.
type Option func(*Log)

// WithPartitions sets the number of partitions of every type; 0 means
// [DefaultPartitions]. It cannot be changed for files that exist.
func WithPartitions(n uint32) Option {
	return func(l *Log) {
		if n > 0 {
			l.count = n
		}
	}
}

// New returns an empty Log that lives as long as the process.
func New(options ...Option) *Log {
	l := &Log{count: DefaultPartitions, partitions: make(map[journal.Partition]*partition)}
	for _, o := range options {
		o(l)
	}
	l.group.count = l.count
	l.snapshots = newKept()
	return l
}

// Count is the same for every type.
func (l *Log) Count(context.Context, string) (uint32, error) { return l.count, nil }

// Append adds an entry. Without files done is called before it returns, with
// them when the entry is on disk.
func (l *Log) Append(p journal.Partition, data []byte, done func(journal.Place, error)) {
	part, err := l.partition(p)
	if err != nil {
		done(journal.Place{}, err)
		return
	}
	l.add(p, part, data, done)
}

// maxEntry is the size in bytes of the largest entry.
const maxEntry = 64 << 20

func (l *Log) add(p journal.Partition, part *partition, data []byte, done func(journal.Place, error)) {
	if len(data) > maxEntry {
		done(journal.Place{}, fmt.Errorf("%w: %d bytes for %v, more than %d", journal.ErrTooLarge, len(data), p, maxEntry))
		return
	}
	if l.disk != nil {
		l.disk.append(p, part, data, done)
		return
	}
	place, wake := part.append(data)
	done(place, nil)
	for _, w := range wake {
		w()
	}
}

// Read opens a reader.
func (l *Log) Read(p journal.Partition, from int64, wake func()) (journal.Reader, error) {
	part, err := l.partition(p)
	if err != nil {
		return nil, err
	}
	return part.read(from, wake), nil
}

// Bounds are the first offset that is there and the next to come.
func (l *Log) Bounds(_ context.Context, p journal.Partition) (first, next int64, err error) {
	part, err := l.partition(p)
	if err != nil {
		return 0, 0, err
	}
	first, next = part.bounds()
	return first, next, nil
}

// Truncate drops the entries below an offset: from memory at once, from files
// when nothing else in them is needed.
func (l *Log) Truncate(_ context.Context, p journal.Partition, below int64) error {
	part, err := l.partition(p)
	if err != nil {
		return err
	}
	part.truncate(below)
	if l.disk != nil {
		l.disk.truncated()
	}
	return nil
}

// Close waits until what was appended is on disk, and closes the files. It
// returns what went wrong with them, if anything did.
func (l *Log) Close() error {
	l.mu.Lock()
	again := l.closed
	l.closed = true
	l.mu.Unlock()
	if l.disk == nil || again {
		return nil
	}
	return l.disk.close()
}

// partition returns a partition, which exists as soon as it is asked for.
func (l *Log) partition(p journal.Partition) (*partition, error) {
	if p.Index >= l.count {
		return nil, journal.ErrNoType
	}
	return l.at(p)
}

func (l *Log) at(p journal.Partition) (*partition, error) {
	l.mu.RLock()
	part, closed := l.partitions[p], l.closed
	l.mu.RUnlock()
	switch {
	case closed:
		return nil, journal.ErrClosed
	case part != nil:
		return part, nil
	}
	return l.make(p)
}

// make makes a partition.
func (l *Log) make(p journal.Partition) (*partition, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, journal.ErrClosed
	}
	part := l.partitions[p]
	if part == nil {
		part = new(partition)
		l.partitions[p] = part
	}
	return part, nil
}
