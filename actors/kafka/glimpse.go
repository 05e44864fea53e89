package kafka

import "context"

// glimpse is what an index knows that was begun at the end of a partition of
// states: so that the time of a takeover is that of one snapshot, however many
// there were, and however much of them brokers have not compacted.
//
// It begins at the offset to which the writer of a manifest had read, which is
// in the manifest (Seen). That writer has found no newer snapshot there, and
// what it refers to below was there as of that offset. So of what is below
// nothing counts but that, unless a record above says that it was deleted. Of
// who had not read so far that cannot be said, nor where records are missing
// above, since brokers forget deletions in time: then everything is read.
type glimpse struct {
	from    int64 // of the first record that is looked at
	deleted map[blob]map[int]bool
}

// glance begins an index at the end of a partition; x is nil if there is no
// manifest to begin with.
func (s *state) glance(ctx context.Context, first, end int64) (x *index, next int64, err error) {
	last, err := s.lastManifest(ctx, first, end)
	if err != nil {
		return nil, 0, err
	}
	if last == nil || last.Seen <= first || last.Seen >= end { // it is of an older program, which does not say; or came just now
		return nil, 0, nil
	}
	x = newIndex()
	x.glimpse = &glimpse{from: last.Seen, deleted: make(map[blob]map[int]bool)}
	return x, last.Seen, nil
}

// lastManifest looks for the last one from the end backwards, and returns nil if
// none is near. How far it is depends on what was deleted after it, or written for
// the next one.
func (s *state) lastManifest(ctx context.Context, first, end int64) (last *manifest, err error) {
	const near, further, far = 8, 4, 32 << 10 // records, times, records
	for back := int64(near); back <= far; back *= further {
		from := max(first, end-back)
		_, err = s.scan(ctx, from, end, func(m *message) {
			b, piece, ok := parseKey(string(m.key))
			if !ok || piece >= 0 || m.value == nil {
				return
			}
			if read, err := decodeManifest(b.save, m.value); err == nil {
				last = read
			}
		})
		if err != nil || last != nil || from == first {
			break
		}
	}
	return last, err
}

// exact reports whether the highest snapshot of x is that of the partition.
func (x *index) exact() bool {
	if x.glimpse == nil || x.lost {
		return !x.lost
	}
	top := x.highest(save{})
	if top == nil {
		return false
	}
	for s := range x.manifests {
		if s.At > top.At { // parts of it are gone
			return false
		}
	}
	return true
}

// recall has a glimpse know of the blobs below it that a manifest refers to.
func (x *index) recall(m *manifest) {
	if x.glimpse == nil {
		return
	}
	if m.Seen < x.from {
		x.lost = true
		return
	}
	m.each(func(b blob, at *stored) bool {
		for k, offset := range at.Offsets {
			if _, known := x.blobs[b][k]; !known && offset >= 0 && offset < x.from && !x.deleted[b][k] {
				x.place(b, k, offset)
			}
		}
		return true
	})
}

// miss notes that a piece was deleted, also one that is below the glimpse.
func (x *index) miss(b blob, piece int) {
	if x.glimpse == nil {
		return
	}
	if x.deleted[b] == nil {
		x.deleted[b] = make(map[int]bool, 1)
	}
	x.deleted[b][piece] = true
}

// widen has the index be of all records: who deletes what nobody needs must know
// what there is. Others look things up in the glimpse meanwhile.
func (s *state) widen(ctx context.Context) error {
	wide := false
	if err := s.recollect(ctx, func() { wide = s.glimpse == nil }); err != nil || wide {
		return err
	}
	first, end, err := s.bounds(ctx)
	if err != nil {
		return err
	}
	x := newIndex()
	next, err := s.scan(ctx, first, end, x.apply)
	if err != nil {
		return err
	}
	if err := seize(ctx, s.held); err != nil {
		return err
	}
	defer func() { s.held <- struct{}{} }()
	s.index, s.next = x, next
	return nil
}
