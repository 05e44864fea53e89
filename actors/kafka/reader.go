package kafka

import (
	"bytes"
	"sync"

	"github.com/backstay-go/backstay/actors/journal"
)

// reader is what was fetched of a log and is not taken yet.
type reader struct {
	fetcher   *fetcher
	feed      *feed
	partition journal.Partition
	bound     int
	wake      func()

	mu     sync.Mutex
	queue  []journal.Entry
	bytes  int
	parked bool // nothing more is fetched until there is room
	err    error
}

// Read opens a reader. Its Poll fails only with [journal.ErrOutOfRange] and
// [journal.ErrClosed]: everything else is tried again, and told by Health.
func (l *Log) Read(p journal.Partition, from int64, wake func()) (journal.Reader, error) {
	if err := l.open(p); err != nil {
		return nil, err
	}
	r := &reader{fetcher: l.fetcher, partition: p, bound: l.config.ReadBytes, wake: wake}
	r.feed = &feed{topic: l.config.topic(p.Type), partition: int32(p.Index), next: from, sink: r} //nolint:gosec // at most 10,000
	l.fetcher.start(r.feed)
	return r, nil
}

// take copies the values: one small entry that is kept for long must not keep a
// whole response.
func (r *reader) take(all []message) (room bool) {
	r.mu.Lock()
	for _, m := range all {
		r.queue = append(r.queue, journal.Entry{Place: journal.Place{Offset: m.offset, At: m.at}, Data: bytes.Clone(m.value)})
		r.bytes += entryBytes + len(m.value)
	}
	r.parked = r.bytes >= r.bound
	room = !r.parked
	r.mu.Unlock()
	r.awaken()
	return room
}

// entryBytes are those of an entry beside its data.
const entryBytes = 64

func (r *reader) fail(err error) {
	r.mu.Lock()
	r.err = err
	r.mu.Unlock()
	r.awaken()
}

func (r *reader) awaken() {
	if !r.feed.closed.Load() {
		r.wake()
	}
}

// Poll returns what is there.
func (r *reader) Poll(maxBytes int) ([]journal.Entry, error) {
	r.mu.Lock()
	n, size := 0, 0
	for n < len(r.queue) && (n == 0 || size+len(r.queue[n].Data) <= maxBytes) {
		size += len(r.queue[n].Data)
		n++
	}
	taken := r.queue[:n:n]
	if r.queue = r.queue[n:]; len(r.queue) == 0 {
		r.queue = nil
	}
	r.bytes -= size + n*entryBytes
	unpark := r.parked && r.bytes <= r.bound/2
	r.parked = r.parked && !unpark
	err := r.err
	r.mu.Unlock()
	if unpark {
		r.fetcher.resume(r.feed)
	}
	if n > 0 {
		return taken, nil
	}
	return nil, err
}

// Close ends it.
func (r *reader) Close() { r.fetcher.stop(r.feed) }
