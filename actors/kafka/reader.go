package kafka

import (
	"bytes"
	"sync"

	"github.com/backstay-go/backstay/actors/journal"
)

// reader reads a log.
type reader struct {
	inflow[journal.Entry]
	partition journal.Partition
}

// Read opens a reader. Its Poll fails only with [journal.ErrOutOfRange] and
// [journal.ErrClosed]: everything else is tried again, and told by Health.
func (l *Log) Read(p journal.Partition, from int64, wake func()) (journal.Reader, error) {
	if err := l.open(l.ctx, p); err != nil {
		return nil, err
	}
	r := &reader{inflow: inflow[journal.Entry]{fetcher: l.fetcher, bound: l.config.ReadBytes, wake: wake, keep: entryOf, size: entrySize}, partition: p}
	r.feed = &feed{topic: l.config.topic(p.Type), partition: int32(p.Index), next: from, sink: r} //nolint:gosec // at most 10,000
	l.fetcher.attend(r)
	l.fetcher.start(r.feed)
	return r, nil
}

func entryOf(m *message) journal.Entry {
	return journal.Entry{Place: journal.Place{Offset: m.offset, At: m.at}, Data: bytes.Clone(m.value)}
}

func entrySize(e *journal.Entry) int { return len(e.Data) }

// inflow is what was fetched of a partition and is not taken yet.
type inflow[T any] struct {
	fetcher *fetcher
	feed    *feed
	bound   int
	wake    func()
	// keep copies a message: a small one that is kept for long must not keep a
	// whole response.
	keep func(m *message) T
	size func(item *T) int

	mu     sync.Mutex
	queue  []T
	bytes  int
	parked bool // nothing more is fetched until there is room
	err    error
}

func (f *inflow[T]) take(all []message) (room bool) {
	f.mu.Lock()
	for i := range all {
		item := f.keep(&all[i])
		f.queue = append(f.queue, item)
		f.bytes += itemBytes + f.size(&item)
	}
	f.parked = f.bytes >= f.bound
	room = !f.parked
	f.mu.Unlock()
	f.awaken()
	return room
}

// squeeze takes an item that was not fetched, if there is room for it and for more.
func (f *inflow[T]) squeeze(item T) (taken bool) {
	f.mu.Lock()
	more := itemBytes + f.size(&item)
	taken = !f.parked && f.err == nil && f.bytes+more < f.bound
	if taken {
		f.queue = append(f.queue, item)
		f.bytes += more
	}
	f.mu.Unlock()
	if taken {
		f.awaken()
	}
	return taken
}

// itemBytes are those of an item beside its data.
const itemBytes = 64

func (f *inflow[T]) fail(err error) {
	f.mu.Lock()
	f.err = err
	f.mu.Unlock()
	f.awaken()
}

func (f *inflow[T]) awaken() {
	if !f.feed.closed.Load() {
		f.wake()
	}
}

// Poll returns what is there.
func (f *inflow[T]) Poll(maxBytes int) ([]T, error) {
	f.mu.Lock()
	n, size := 0, 0
	for n < len(f.queue) {
		more := f.size(&f.queue[n])
		if n > 0 && size+more > maxBytes {
			break
		}
		size += more
		n++
	}
	taken := f.queue[:n:n]
	if f.queue = f.queue[n:]; len(f.queue) == 0 {
		f.queue = nil
	}
	f.bytes -= size + n*itemBytes
	unpark := f.parked && f.bytes <= f.bound/2
	f.parked = f.parked && !unpark
	err := f.err
	f.mu.Unlock()
	if unpark {
		f.fetcher.resume(f.feed)
	}
	if n > 0 {
		return taken, nil
	}
	return nil, err
}

// Close ends it.
func (f *inflow[T]) Close() { f.fetcher.stop(f.feed) }
