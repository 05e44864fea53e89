package memory

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/backstay-go/backstay/actors/journal"
)

// snapshots are where snapshots are: in memory, or in files.
type snapshots interface {
	latest(p journal.Partition) (journal.Manifest, bool, error)
	chunk(p journal.Partition, c journal.Chunk) ([]byte, error)
	save(p journal.Partition, m journal.Manifest, chunks map[journal.Chunk][]byte) error
}

// Manifest returns the newest snapshot's.
func (l *Log) Manifest(_ context.Context, p journal.Partition) (journal.Manifest, bool, error) {
	return l.snapshots.latest(p)
}

// Chunk returns a part of the newest snapshot.
func (l *Log) Chunk(_ context.Context, p journal.Partition, c journal.Chunk) ([]byte, error) {
	return l.snapshots.chunk(p, c)
}

// Save replaces the snapshot, unless the one that is there is newer.
func (l *Log) Save(_ context.Context, p journal.Partition, m journal.Manifest, chunks map[journal.Chunk][]byte) error {
	return l.snapshots.save(p, m, chunks)
}

// keptSnapshots keeps the newest complete snapshot of each partition: a newer
// one replaces it in one act, so there is never an incomplete one.
type keptSnapshots struct {
	mu  sync.Mutex
	all map[journal.Partition]snapshot
}

type snapshot struct {
	manifest journal.Manifest
	chunks   map[journal.Chunk][]byte
}

func newKept() *keptSnapshots {
	return &keptSnapshots{all: make(map[journal.Partition]snapshot)}
}

func (k *keptSnapshots) latest(p journal.Partition) (journal.Manifest, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, ok := k.all[p]
	return s.manifest, ok, nil
}

func (k *keptSnapshots) chunk(p journal.Partition, c journal.Chunk) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if b, ok := k.all[p].chunks[c]; ok {
		return b, nil
	}
	return nil, errNoChunk(p, c)
}

func (k *keptSnapshots) save(p journal.Partition, m journal.Manifest, chunks map[journal.Chunk][]byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	old, ok := k.all[p]
	if ok && old.manifest.At >= m.At {
		return nil
	}
	all := maps.Clone(old.chunks)
	if all == nil {
		all = make(map[journal.Chunk][]byte, len(chunks))
	}
	maps.Copy(all, chunks)
	for _, c := range m.Chunks {
		if _, ok := all[c]; !ok {
			return errNoChunk(p, c)
		}
	}
	needed := make(map[journal.Chunk]bool, len(m.Chunks))
	for _, c := range m.Chunks {
		needed[c] = true
	}
	maps.DeleteFunc(all, func(c journal.Chunk, _ []byte) bool { return !needed[c] })
	k.all[p] = snapshot{manifest: m, chunks: all}
	return nil
}

func errNoChunk(p journal.Partition, c journal.Chunk) error {
	return fmt.Errorf("memory: %v has no chunk %d as of %d: a newer snapshot may have replaced it; read the manifest again", p, c.Number, c.At)
}
