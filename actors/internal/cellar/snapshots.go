package cellar

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record/codec"
	"github.com/backstay-go/backstay/actors/journal"
)

// ChunkSize is about how large a chunk becomes, in bytes, before it is split.
// An actor that is larger has one for itself.
const ChunkSize = 16 << 10

// cacheSize is how many bytes of chunks a partition keeps.
const cacheSize = 512 << 10

// snapshots is a cellar in the chunks of snapshots.
type snapshots struct {
	log       journal.Snapshots
	partition journal.Partition
	size      int
	cache     cache

	mu   sync.Mutex
	at   int64 // of the manifest
	tree tree
}

// OverSnapshots returns the cellar of a partition in the chunks of its newest
// snapshot, whose manifest is m, empty if there is none. Chunks that become
// larger than size are split; 0 means [ChunkSize].
func OverSnapshots(log journal.Snapshots, p journal.Partition, m journal.Manifest, size int) (Cellar, error) {
	if m.At > 0 && len(m.Chunks) == 0 {
		return nil, fmt.Errorf("%w: the snapshot of %v as of %d was made beside a state store; open it with that", ErrLost, p, m.At)
	}
	if size == 0 {
		size = ChunkSize
	}
	s := &snapshots{log: log, partition: p, size: size, cache: cache{limit: cacheSize}}
	s.adopt(m)
	return s, nil
}

func (s *snapshots) adopt(m journal.Manifest) {
	s.at, s.tree = m.At, make(tree, len(m.Chunks))
	for _, c := range m.Chunks {
		s.tree[c.Number] = c.At
	}
}

// of returns the chunk of an actor, false if nothing was saved yet.
func (s *snapshots) of(actor string) (journal.Chunk, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number, found := s.tree.leaf(spread(actor))
	return journal.Chunk{Number: number, At: s.tree[number]}, found
}

// Known looks into the cache.
func (s *snapshots) Known(actor string) (Row, bool) {
	c, found := s.of(actor)
	if !found {
		return Row{}, true
	}
	p := s.cache.get(c)
	if p == nil {
		return Row{}, false
	}
	cells, err := p.find(actor)
	return Row{At: c.At, Cells: cells}, err == nil
}

// Load reads the chunk of an actor. If it is gone, a newer snapshot has taken
// its place.
func (s *snapshots) Load(ctx context.Context, actor string) (Row, error) {
	for {
		c, found := s.of(actor)
		if !found {
			return Row{}, nil
		}
		p, err := s.page(ctx, c)
		if err == nil {
			cells, err := p.find(actor)
			return Row{At: c.At, Cells: cells}, err
		}
		if renewed := s.renew(ctx); renewed != nil {
			return Row{}, fmt.Errorf("%w; %w", err, renewed)
		}
		if again, _ := s.of(actor); again == c {
			return Row{}, err
		}
	}
}

func (s *snapshots) page(ctx context.Context, c journal.Chunk) (*page, error) {
	if p := s.cache.get(c); p != nil {
		return p, nil
	}
	p, err := s.read(ctx, c)
	if err != nil {
		return nil, err
	}
	s.cache.put(c, p)
	return p, nil
}

// renew reads the manifest again.
func (s *snapshots) renew(ctx context.Context) error {
	m, _, err := s.log.Manifest(ctx, s.partition)
	if err != nil {
		return fmt.Errorf("cellar: snapshot of %v: %w", s.partition, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.At >= s.at {
		s.adopt(m)
	}
	return nil
}

// Save writes the chunks with changes anew, and the manifest.
func (s *snapshots) Save(ctx context.Context, m journal.Manifest, changes []machine.Change) error {
	s.mu.Lock()
	at, next := s.at, maps.Clone(s.tree)
	s.mu.Unlock()
	switch {
	case at > m.At:
		return ErrOutdated
	case at == m.At && at > 0: // what one is as of is what it is
		return nil
	}
	chunks, err := s.rewrite(ctx, next, m.At, changes)
	if err == nil {
		m.Chunks = next.chunks()
		err = s.log.Save(ctx, s.partition, m, chunks)
	}
	if err != nil { // chunks of ours may be gone, or this one may yet come to be
		_ = s.renew(ctx) // the next try will
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at <= m.At {
		s.at, s.tree = m.At, next
	}
	return nil
}

// rewrite makes the chunks that have changes, and gives them their places.
func (s *snapshots) rewrite(ctx context.Context, next tree, at int64, changes []machine.Change) (map[journal.Chunk][]byte, error) {
	groups := make(map[uint32][]machine.Change)
	for _, c := range changes {
		number, _ := next.leaf(spread(c.Actor))
		groups[number] = append(groups[number], c)
	}
	if len(next) == 0 && len(groups) == 0 {
		groups[root] = nil // a snapshot has a chunk
	}
	chunks := make(map[journal.Chunk][]byte, len(groups))
	for number, group := range groups {
		below := new(page)
		if was, exists := next[number]; exists {
			var err error
			if below, err = s.page(ctx, journal.Chunk{Number: number, At: was}); err != nil {
				return nil, err
			}
		}
		p, err := below.with(group)
		if err != nil {
			return nil, err
		}
		next.grow(number, p, at, s.size, func(c journal.Chunk, p *page) { chunks[c] = codec.Append(nil, p) })
	}
	return chunks, nil
}
