package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/backstay-go/backstay/actors/journal"
)

// states are the indexes of the partitions of the topics of states.
type states struct {
	mu          sync.Mutex
	byPartition map[journal.Partition]*state
}

// state is what is known of one of them. Who saves has it saving for as long as
// that takes. Its index is held by one at a time, who reads what is new and looks
// something up, and not while bodies are read or written: so a load does not wait
// for a save.
type state struct {
	shelf
	saving chan struct{} // holds one while nobody saves
	held   chan struct{} // holds one while nobody has what follows
	*index               // nil: nothing was read yet
	next   int64         // where to read on
}

// state returns that of a partition.
func (l *Log) state(ctx context.Context, p journal.Partition) (*state, error) {
	if err := l.open(ctx, p); err != nil {
		return nil, err
	}
	return l.states.of(l, p), nil
}

// consult brings the index up to date and calls f, which looks things up in it
// and does not wait.
func (s *state) consult(ctx context.Context, f func()) error {
	if err := seize(ctx, s.held); err != nil {
		return err
	}
	defer func() { s.held <- struct{}{} }()
	if err := s.refresh(ctx); err != nil {
		return err
	}
	f()
	return nil
}

// recollect calls f with the index as it is, if anything was read yet.
func (s *state) recollect(ctx context.Context, f func()) error {
	if err := seize(ctx, s.held); err != nil {
		return err
	}
	defer func() { s.held <- struct{}{} }()
	if s.index != nil {
		f()
	}
	return nil
}

// seize takes what a channel holds, to be put back.
func seize(ctx context.Context, from chan struct{}) error {
	select {
	case <-from:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (all *states) of(l *Log, p journal.Partition) *state {
	all.mu.Lock()
	defer all.mu.Unlock()
	s := all.byPartition[p]
	if s == nil {
		s = newState(&brokerShelf{log: l, topic: l.config.topic(p.Type) + stateSuffix, partition: int32(p.Index)}) //nolint:gosec // at most 10,000
		all.byPartition[p] = s
	}
	return s
}

func newState(on shelf) *state {
	s := &state{shelf: on, saving: make(chan struct{}, 1), held: make(chan struct{}, 1)}
	s.saving <- struct{}{}
	s.held <- struct{}{}
	return s
}

// refresh reads what is new, to where the partition ended when it began; of one
// that was not read yet, or not for long, the end, if that will do.
func (s *state) refresh(ctx context.Context) error {
	first, end, err := s.bounds(ctx)
	if err != nil {
		return err
	}
	if s.index == nil || s.stale(end) {
		if err := s.begin(ctx, first, end); err != nil {
			return err
		}
	}
	switch {
	case s.index == nil, s.next < first, s.next > end: // never read, or the topic was made anew
		return s.readAll(ctx, first, end)
	case s.next == end:
		return nil
	}
	if err := s.readOn(ctx, end); err != nil || s.exact() {
		return err
	}
	return s.readAll(ctx, first, end)
}

// readOn reads what is new. Where records are missing brokers have compacted, and
// may have forgotten deletions as well, of what is in the index.
func (s *state) readOn(ctx context.Context, end int64) (err error) {
	due := s.next
	s.next, err = s.scan(ctx, due, end, func(m *message) {
		s.lost = s.lost || m.offset != due
		due = m.offset + 1
		s.apply(m)
	})
	s.lost = s.lost || s.next != due
	return err
}

// readAll begins anew with all records: of what they do not have there is nothing
// in the index.
func (s *state) readAll(ctx context.Context, first, end int64) (err error) {
	s.index = newIndex()
	s.next, err = s.scan(ctx, first, end, s.apply)
	return err
}

// stale reports whether others have written so much that it is quicker to look at
// the end. Who saves goes on from what it knows, which must be everything.
func (s *state) stale(end int64) bool {
	const much = 256 // records
	return end-s.next > much && len(s.saving) > 0
}

// begin begins the index anew at the end, if that will do.
func (s *state) begin(ctx context.Context, first, end int64) error {
	x, next, err := s.glance(ctx, first, end)
	if err == nil && x != nil {
		s.index, s.next = x, next
	}
	return err
}

// scan calls f with the records from an offset to another, and returns how far
// it came.
func (s *state) scan(ctx context.Context, from, end int64, f func(*message)) (next int64, err error) {
	for from < end {
		b, err := s.fetch(ctx, from, fetchBytes)
		if err != nil {
			return from, err
		}
		for i := range b.messages {
			f(&b.messages[i])
		}
		if b.next == from {
			return from, errShort
		}
		from = b.next
	}
	return from, nil
}

// errShort: nothing came of what was there: a leader that is new may not know yet
// how much of it is in sync. A state that is read in part would be an older one.
var errShort = errors.New("kafka: the leader does not give all that the partition had")

// spot is where a piece of a blob is: -1, if it is there no longer.
type spot struct {
	key    string
	offset int64
}

// where returns the places of the pieces of a blob. The index must be held.
func (s *state) where(b blob, pieces int) []spot {
	all := make([]spot, pieces)
	for k := range all {
		offset, ok := s.blobs[b][k]
		if !ok {
			offset = -1
		}
		all[k] = spot{b.key(k), offset}
	}
	return all
}

// body reads a blob from where its pieces are.
func (s *state) body(ctx context.Context, pieces []spot) ([]byte, error) {
	var data []byte
	for _, at := range pieces {
		if at.offset < 0 {
			return nil, errReplaced(at.key)
		}
		piece, err := s.piece(ctx, at.offset, at.key)
		if err != nil {
			return nil, err
		}
		data = append(data, piece...)
	}
	return data, nil
}

// piece reads one record. Only the batch that it is in is fetched.
func (s *state) piece(ctx context.Context, offset int64, key string) ([]byte, error) {
	b, err := s.fetch(ctx, offset, 1)
	if err != nil {
		return nil, err
	}
	for _, m := range b.messages {
		if m.offset == offset && string(m.key) == key {
			return bytes.Clone(m.value), nil
		}
	}
	return nil, errReplaced(key)
}

func errReplaced(key string) error {
	return fmt.Errorf("kafka: %s is there no longer: a newer snapshot has replaced it; read the manifest again", key)
}
