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

// state is what is known of one of them. It is held by one at a time, who may be
// waiting for brokers.
type state struct {
	shelf
	held chan struct{} // holds one while nobody has it
	*index
	next int64 // where to read on
}

// hold returns the state of a partition, up to date, to be released.
func (l *Log) hold(ctx context.Context, p journal.Partition) (s *state, release func(), err error) {
	if err := l.open(ctx, p); err != nil {
		return nil, nil, err
	}
	s = l.states.of(l, p)
	select {
	case <-s.held:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	release = func() { s.held <- struct{}{} }
	if err := s.refresh(ctx); err != nil {
		release()
		return nil, nil, err
	}
	return s, release, nil
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
	s := &state{shelf: on, held: make(chan struct{}, 1), index: newIndex()}
	s.held <- struct{}{}
	return s
}

// refresh reads what is new, to where the partition ended when it began.
func (s *state) refresh(ctx context.Context) error {
	first, end, err := s.bounds(ctx)
	if err != nil {
		return err
	}
	if s.next < first || s.next > end { // the topic was made anew
		s.index, s.next = newIndex(), first
	}
	for s.next < end {
		b, err := s.fetch(ctx, s.next, fetchBytes)
		if err != nil {
			return err
		}
		for i := range b.messages {
			s.apply(&b.messages[i])
		}
		if b.next == s.next {
			return errShort
		}
		s.next = b.next
	}
	return nil
}

// errShort: nothing came of what was there: a leader that is new may not know yet
// how much of it is in sync. A state that is read in part would be an older one.
var errShort = errors.New("kafka: the leader does not give all that the partition had")

// body reads a blob from where its pieces are.
func (s *state) body(ctx context.Context, b blob, pieces int) ([]byte, error) {
	var data []byte
	for k := range pieces {
		offset, ok := s.blobs[b][k]
		if !ok {
			return nil, errReplaced(b.key(k))
		}
		piece, err := s.piece(ctx, offset, b.key(k))
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
