package memory

import (
	"sync"
	"time"

	"github.com/backstay-go/backstay/actors/journal"
)

// partition is the sequence of entries.
type partition struct {
	mu      sync.Mutex
	first   int64 // the offset of entries[0]
	entries []journal.Entry
	visible int // how many of them readers see: those that are durable
	readers []*reader
	wakes   []func() // those of readers, replaced whenever they change
}

// append adds an entry that readers see at once, and returns whom to wake,
// outside of the lock.
func (p *partition) append(data []byte) (journal.Place, []func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	place := p.add(data)
	p.visible = len(p.entries)
	return place, p.wakes
}

// reserve adds an entry that readers do not see yet.
func (p *partition) reserve(data []byte) journal.Place {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.add(data)
}

func (p *partition) add(data []byte) journal.Place {
	place := journal.Place{Offset: p.first + int64(len(p.entries)), At: time.Now().UnixMilli()}
	p.entries = append(p.entries, journal.Entry{Place: place, Data: data})
	return place
}

// show makes the entries up to an offset visible, and returns whom to wake.
func (p *partition) show(offset int64) []func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.visible = max(p.visible, int(offset+1-p.first))
	return p.wakes
}

// all are the visible entries.
func (p *partition) all() []journal.Entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.entries[:p.visible:p.visible]
}

// retract takes back what is not visible.
func (p *partition) retract() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.entries = p.entries[:p.visible:p.visible]
}

func (p *partition) bounds() (first, next int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first, p.first + int64(p.visible)
}

// truncate copies what is left, so that what is dropped can be collected.
func (p *partition) truncate(below int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	drop := min(int(below-p.first), p.visible)
	if drop <= 0 {
		return
	}
	p.entries = append([]journal.Entry(nil), p.entries[drop:]...)
	p.first += int64(drop)
	p.visible -= drop
}

func (p *partition) read(from int64, wake func()) *reader {
	r := &reader{partition: p, next: from, wake: wake}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.readers = append(p.readers, r)
	p.rewake()
	return r
}

// rewake makes the list of wakes anew: an append may be using the old one.
func (p *partition) rewake() {
	p.wakes = make([]func(), len(p.readers))
	for i, r := range p.readers {
		p.wakes[i] = r.wake
	}
}

// reader is a place in a partition.
type reader struct {
	*partition
	next int64
	wake func()
}

// Poll returns what is there. The entries alias the partition's own, which are
// only ever added to.
func (r *reader) Poll(maxBytes int) ([]journal.Entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next < r.first {
		return nil, journal.ErrOutOfRange
	}
	i := r.next - r.first
	if i >= int64(r.visible) {
		return nil, nil
	}
	rest := r.entries[i:r.visible]
	n, size := 0, 0
	for n < len(rest) && (n == 0 || size+len(rest[n].Data) <= maxBytes) {
		size += len(rest[n].Data)
		n++
	}
	r.next += int64(n)
	return rest[:n:n], nil
}

// Close takes the reader off; a wake that has begun may still be under way, as
// waking is harmless.
func (r *reader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, other := range r.readers {
		if other == r {
			r.readers = append(r.readers[:i:i], r.readers[i+1:]...)
			break
		}
	}
	r.rewake()
}
