package simtest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/backstay-go/backstay/actors/journal"
)

// reader is a process's place in a partition. It sees entries some time after
// they landed.
type reader struct {
	view *View
	p    journal.Partition
	next int64
	seen int64 // entries below are visible
	wake func()
	told int64
	at   string // the point that its polls pass
}

// Read opens a reader.
func (v *View) Read(p journal.Partition, from int64, wake func()) (journal.Reader, error) {
	c := v.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := v.refusal(p); err != nil {
		return nil, err
	}
	return v.open(&reader{view: v, p: p, next: from, wake: wake, at: "poll"}), nil
}

// open lets a reader see what is there. mu is held.
func (v *View) open(r *reader) *reader {
	part := v.cluster.partition(r.p)
	part.readers = append(part.readers, r)
	r.tell(part.next())
	return r
}

// tell lets the reader see entries below an offset after a while. mu is held.
func (r *reader) tell(below int64) {
	v := r.view
	r.told = max(r.told, below)
	if v.dead {
		return
	}
	time.AfterFunc(v.latency(), func() {
		v.cluster.mu.Lock()
		defer v.cluster.mu.Unlock()
		v.perform(func() {
			if v.blind > 0 {
				v.unseen = append(v.unseen, r)
				return
			}
			r.seen = max(r.seen, below, 0)
			if below == 0 {
				r.seen = r.told
			}
			go r.wake()
		})
	})
}

var errPoll = errors.New("simtest: reading failed")

// Poll returns what is visible.
func (r *reader) Poll(maxBytes int) ([]journal.Entry, error) {
	v, c := r.view, r.view.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	due := c.pass(v, r.at)
	v.strike(due)
	if f := has(due, Slow); f != nil { // it lags
		time.AfterFunc(f.For, r.wake)
		return nil, nil
	}
	switch {
	case v.dead:
		return nil, nil
	case v.paused > 0:
		v.held = append(v.held, func() { go r.wake() })
		return nil, nil
	case v.blind > 0:
		v.unseen = append(v.unseen, r)
		return nil, nil
	case has(due, Fail) != nil:
		return nil, errPoll
	}
	part := c.partition(r.p)
	if r.next < part.first {
		return nil, journal.ErrOutOfRange
	}
	rest := part.entries[min(max(r.next-part.first, 0), int64(len(part.entries))):]
	n, size := 0, 0
	for n < len(rest) && rest[n].Offset < r.seen && (n == 0 || size+len(rest[n].Data) <= maxBytes) {
		size += len(rest[n].Data)
		n++
	}
	if n > 0 {
		r.next = rest[n-1].Offset + 1
	}
	return slices.Clone(rest[:n]), nil
}

// Close takes the reader off.
func (r *reader) Close() {
	c := r.view.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	part := c.partition(r.p)
	part.readers = slices.DeleteFunc(part.readers, func(other *reader) bool { return other == r })
}

// Bounds are what the log has.
func (v *View) Bounds(ctx context.Context, p journal.Partition) (first, next int64, err error) {
	if err := v.travel(ctx); err != nil {
		return 0, 0, err
	}
	v.cluster.mu.Lock()
	defer v.cluster.mu.Unlock()
	part := v.cluster.partition(p)
	return part.first, part.next(), nil
}

// Truncate drops entries, perhaps late.
func (v *View) Truncate(ctx context.Context, p journal.Partition, below int64) error {
	c := v.cluster
	c.mu.Lock()
	due := c.pass(v, "truncate")
	v.strike(due)
	c.mu.Unlock()
	if f := has(due, FailLate); f != nil {
		time.AfterFunc(f.For, func() { c.truncate(p, below) })
		return errLost
	}
	if err := v.travel(ctx); err != nil {
		return err
	}
	c.truncate(p, below)
	return nil
}

func (c *Cluster) truncate(p journal.Partition, below int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	part := c.partition(p)
	n := min(below-part.first, int64(len(part.entries)))
	if n <= 0 {
		return
	}
	if c.judge != nil {
		m, _, _ := c.inner.Manifest(context.Background(), p) // in memory, it does not fail
		c.judge.truncated(p, below, m.At)
	}
	part.entries = slices.Clone(part.entries[n:])
	part.first += n
}

func sortPartitions(all []journal.Partition) {
	slices.SortFunc(all, func(a, b journal.Partition) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Index, b.Index))
	})
}
