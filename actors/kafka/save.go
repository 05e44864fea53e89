package kafka

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

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
	s, release, err := l.hold(ctx, p)
	if err != nil {
		return err
	}
	defer release()
	err = s.replace(ctx, p, m, chunks)
	l.vitals.note(vital{part: "snapshot", topic: l.config.topic(p.Type) + stateSuffix, partition: int32(p.Index)}, err) //nolint:gosec // at most 10,000
	return err
}

// errRaced: others have saved all the time.
var errRaced = errors.New("kafka: other snapshots came in between")

func (s *state) replace(ctx context.Context, p journal.Partition, m journal.Manifest, chunks map[journal.Chunk][]byte) error {
	own := newManifest(m.At)
	const rounds = 5
	for range rounds {
		top := s.highest(own.save)
		if top != nil && top.At >= m.At {
			return nil // and nobody needs this one
		}
		if err := s.write(ctx, p, own, top, m, chunks); err != nil {
			return err
		}
		if err := s.refresh(ctx); err != nil {
			return err
		}
		now := s.highest(own.save)
		if now == top && s.complete(own.save) || now != nil && now.At >= m.At {
			s.sweep(own)
			return nil
		}
	}
	return errRaced
}

func newManifest(at int64) *manifest {
	var random [8]byte
	_, _ = rand.Read(random[:]) // does not fail
	return &manifest{save: save{At: at, Writer: hex.EncodeToString(random[:])}}
}

// write writes what top does not have, then the manifest.
func (s *state) write(ctx context.Context, p journal.Partition, own, top *manifest, m journal.Manifest, chunks map[journal.Chunk][]byte) error {
	var batch batch
	own.Core = s.store(&batch, blob{own.save, coreName}, m.Core)
	own.Chunks = own.Chunks[:0]
	for _, c := range m.Chunks {
		at, err := s.place(ctx, &batch, own, top, c, chunks)
		if err != nil {
			return fmt.Errorf("%w (%v)", err, p)
		}
		own.Chunks = append(own.Chunks, chunk{Number: c.Number, At: c.At, stored: at})
	}
	if err := batch.wait(ctx); err != nil {
		return err
	}
	data, err := encodeManifest(own)
	if err != nil {
		return err
	}
	s.add(&batch, own.manifestKey(), value(data))
	return batch.wait(ctx)
}

// place says where a chunk is, or writes it: because it is new, or because top
// does not refer to it.
func (s *state) place(ctx context.Context, batch *batch, own, top *manifest, c journal.Chunk, chunks map[journal.Chunk][]byte) (stored, error) {
	if data, is := chunks[c]; is {
		return s.store(batch, blob{own.save, chunkName(c)}, data), nil
	}
	if top != nil {
		if at := top.find(c); at != nil {
			return at.stored, nil
		}
	}
	at := s.find(c)
	if at == nil {
		return stored{}, fmt.Errorf("kafka: nobody has written chunk %d as of %d", c.Number, c.At)
	}
	data, err := s.body(ctx, at.blob(), at.Pieces)
	if err != nil {
		return stored{}, err
	}
	return s.store(batch, blob{own.save, chunkName(c)}, data), nil
}

// store writes a blob.
func (s *state) store(batch *batch, b blob, data []byte) stored {
	const room = 4 << 10 // for the key, and what a record and a batch have around it
	pieces := split(data, max(s.largest()-room, room))
	for k, piece := range pieces {
		s.add(batch, b.key(k), value(piece))
	}
	return stored{Save: b.save, Pieces: len(pieces)}
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
