package kafka

import (
	"context"
	"fmt"

	"github.com/backstay-go/backstay/actors/journal"
)

// Manifest reads what is new in the partition's topic of states, the first time
// what came since the newest snapshot was begun, and returns that.
func (l *Log) Manifest(ctx context.Context, p journal.Partition) (journal.Manifest, bool, error) {
	s, err := l.state(ctx, p)
	if err != nil {
		return journal.Manifest{}, false, err
	}
	var top *manifest
	var core []spot
	err = s.consult(ctx, func() {
		if top = s.highest(save{}); top != nil {
			core = s.where(top.core(), top.Core.Pieces)
		}
	})
	if err != nil || top == nil {
		return journal.Manifest{}, false, err
	}
	m := journal.Manifest{At: top.At, Chunks: make([]journal.Chunk, len(top.Chunks))}
	for i := range top.Chunks {
		m.Chunks[i] = top.Chunks[i].chunk()
	}
	m.Core, err = s.body(ctx, core)
	return m, err == nil, err
}

// Chunk reads one chunk from the brokers.
func (l *Log) Chunk(ctx context.Context, p journal.Partition, c journal.Chunk) ([]byte, error) {
	s, err := l.state(ctx, p)
	if err != nil {
		return nil, err
	}
	return s.load(ctx, p, c)
}

// load reads a chunk. What is known to be there is not asked for before: a chunk
// does not change, and if it is there no longer, that is seen by reading it.
func (s *state) load(ctx context.Context, p journal.Partition, c journal.Chunk) ([]byte, error) {
	var pieces []spot
	look := func() {
		if at := s.find(c); at != nil {
			pieces = s.where(at.blob(), at.Pieces)
		}
	}
	if err := s.recollect(ctx, look); err != nil {
		return nil, err
	}
	if pieces != nil {
		if data, err := s.body(ctx, pieces); err == nil {
			return data, nil
		}
	}
	pieces = nil
	switch err := s.consult(ctx, look); {
	case err != nil:
		return nil, err
	case pieces == nil:
		return nil, errNoChunk(p, c)
	}
	return s.body(ctx, pieces)
}

// find returns where a chunk is: by the newest snapshot that has it, and has it
// whole. What else that snapshot has does not matter: a chunk is the same whoever
// wrote it.
func (s *state) find(c journal.Chunk) (at *chunk) {
	var of *manifest
	for _, m := range s.manifests {
		if found := m.find(c); found != nil && (of == nil || m.At > of.At) && s.whole(found.blob(), &found.stored) {
			at, of = found, m
		}
	}
	return at
}

func errNoChunk(p journal.Partition, c journal.Chunk) error {
	return fmt.Errorf("kafka: %v has no chunk %d as of %d: a newer snapshot may have replaced it; read the manifest again", p, c.Number, c.At)
}
