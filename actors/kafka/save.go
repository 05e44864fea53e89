package kafka

import (
	"context"
	"errors"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// Save writes a snapshot, and deletes what it makes superfluous.
//
// Others may save and delete at the same time, and deletions may land at any
// time after they were decided on. So a snapshot must never refer to what an
// older one refers to and somebody else may be deleting: what it keeps is
// referred to by the newest other snapshot that is complete, as it is when its
// own manifest has landed. What is not is written anew, under a key of its own.
// Who deletes has seen all that was complete by then, and leaves that alone.
func (l *Log) Save(ctx context.Context, p journal.Partition, m journal.Manifest, chunks map[journal.Chunk][]byte) error {
	s, err := l.state(ctx, p)
	if err != nil {
		return err
	}
	err = s.replace(ctx, p, m, chunks)
	l.vitals.note(vital{part: "snapshot", topic: l.config.topic(p.Type) + stateSuffix, partition: int32(p.Index)}, err) //nolint:gosec // at most 10,000
	return err
}

// errRaced: others have saved all the time.
var errRaced = errors.New("kafka: other snapshots came in between")

// replace has a snapshot take the place of older ones. One at a time does so.
func (s *state) replace(ctx context.Context, p journal.Partition, m journal.Manifest, chunks map[journal.Chunk][]byte) error {
	if err := seize(ctx, s.saving); err != nil {
		return err
	}
	defer func() { s.saving <- struct{}{} }()
	if err := s.widen(ctx); err != nil {
		return err
	}
	d := &draft{state: s, of: p, content: m, fresh: chunks, own: newManifest(m.At)}
	const rounds = 5
	for range rounds {
		if done, err := d.round(ctx); done || err != nil {
			return err
		}
	}
	return errRaced
}

// sweep deletes what is not needed. What cannot be deleted is left to the next
// save.
func (s *state) sweep(own *manifest) {
	var ignored batch
	for _, key := range s.garbage(own) {
		s.add(&ignored, key, nil)
	}
}

// add writes a record; without a value it is a deletion.
func (s *state) add(b *batch, key string, value sarama.Encoder) {
	s.put(key, value, b.add())
}
