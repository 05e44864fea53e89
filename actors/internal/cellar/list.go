package cellar

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/backstay-go/backstay/actors/journal"
)

// List looks through all chunks, since they are not in the order of ids, and
// keeps no more of them than it returns. It goes on with those that come in the
// place of one meanwhile.
func (s *snapshots) List(ctx context.Context, after string, limit int) ([]Saved, error) {
	s.mu.Lock()
	left := s.tree.chunks()
	s.mu.Unlock()
	var first []row
	for len(left) > 0 {
		c := left[0]
		left = left[1:]
		p, err := s.read(ctx, c)
		if err != nil {
			newer := s.inPlaceOf(ctx, c)
			if newer == nil {
				return nil, err
			}
			left = append(newer, left...)
			continue
		}
		from, _ := slices.BinarySearchFunc(p.rows, after+"\x00", compare)
		first = append(first, p.rows[from:]...)
		if len(first) > limit {
			slices.SortFunc(first, byActor)
			first = first[:limit]
		}
	}
	slices.SortFunc(first, byActor)
	all := make([]Saved, len(first))
	for i := range first {
		cells, err := first[i].read()
		if err != nil {
			return nil, err
		}
		all[i] = Saved{Actor: string(first[i].actor), Cells: cells}
	}
	return all, nil
}

// inPlaceOf returns the chunks that a newer snapshot has in the place of one, nil
// if it has none.
func (s *snapshots) inPlaceOf(ctx context.Context, c journal.Chunk) []journal.Chunk {
	if s.renew(ctx) != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, is := s.tree[c.Number]; is && at == c.At {
		return nil
	}
	return s.tree.below(c.Number)
}

func byActor(a, b row) int { return bytes.Compare(a.actor, b.actor) }

// read reads a chunk, past the cache.
func (s *snapshots) read(ctx context.Context, c journal.Chunk) (*page, error) {
	b, err := s.log.Chunk(ctx, s.partition, c)
	if err != nil {
		return nil, fmt.Errorf("cellar: chunk %d of %v as of %d: %w", c.Number, s.partition, c.At, err)
	}
	p, err := readPage(b)
	if err != nil {
		return nil, fmt.Errorf("chunk %d of %v as of %d: %w", c.Number, s.partition, c.At, err)
	}
	return p, nil
}
