package memory

import (
	"sync"
	"time"

	"github.com/backstay-go/backstay/actors/journal"
)

// partition is the sequence of entries.
type partition struct {
	mu      sync.Mutex
	entries sequence
	visible int64 // readers see what is below: what is durable
	readers []*reader
	wakes   []func() // those of readers, replaced whenever they change
}

// append adds an entry that readers see at once, and returns whom to wake,
// outside of the lock.
func (p *partition) append(data []byte) (journal.Place, []func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	place := p.add(data)
	p.visible = p.entries.next
	return place, p.wakes
}

// reserve adds an entry that readers do not see yet.
func (p *partition) reserve(data []byte) journal.Place {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.add(data)
}

func (p *partition) add(data []byte) journal.Place {
	place := journal.Place{Offset: p.entries.next, At: time.Now().UnixMilli()}
	p.entries.add(journal.Entry{Place: place, Data: data})
	return place
}

// show makes the entries up to an offset visible, and returns whom to wake.
func (p *partition) show(offset int64) []func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.visible = max(p.visible, offset+1)
	return p.wakes
}

// all are the visible entries.
func (p *partition) all() []journal.Entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.entries.below(p.visible)
}

// retract takes back what is not visible.
func (p *partition) retract() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.entries.retract(p.visible)
}

func (p *partition) bounds() (first, next int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.entries.first, p.visible
}

// truncate drops what is below an offset, as far as it is visible.
func (p *partition) truncate(below int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if below = min(below, p.visible); below > p.entries.first {
		p.entries.drop(below)
	}
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

// Poll returns what is there and lies together. The entries are the partition's
// own, which do not change.
func (r *reader) Poll(maxBytes int) ([]journal.Entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next < r.entries.first {
		return nil, journal.ErrOutOfRange
	}
	if r.next >= r.visible {
		return nil, nil
	}
	rest := r.entries.from(r.next)
	rest = rest[:min(int64(len(rest)), r.visible-r.next)]
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
