package kafka

// index says what a partition of the topic of states has, and where: keys and
// offsets, and no bodies but those of lists. It is what its records are applied to, in order.
type index struct {
	blobs     map[blob]map[int]int64 // offsets of pieces
	manifests map[save]*manifest
	lists     lists
	lost      bool // there was something that it says nothing of
	*glimpse       // nil: it is of all records
}

func newIndex() *index {
	return &index{blobs: make(map[blob]map[int]int64), manifests: make(map[save]*manifest), lists: make(lists)}
}

// apply applies a record. What is a stranger's, or of a newer program, is left
// out: a snapshot that needs it is not complete.
func (x *index) apply(m *message) {
	b, piece, ok := parseKey(string(m.key))
	switch {
	case !ok:
	case piece < 0 && m.value == nil:
		delete(x.manifests, b.save)
	case piece < 0:
		if read, err := decodeManifest(b.save, m.value); err == nil {
			x.lists.complete(read)
			x.manifests[b.save] = read
			x.recall(read)
		}
	case m.value == nil:
		x.miss(b, piece)
		delete(x.lists, b)
		if delete(x.blobs[b], piece); len(x.blobs[b]) == 0 {
			delete(x.blobs, b)
		}
	default:
		x.place(b, piece, m.offset)
		if b.isList() {
			x.lists.add(b, piece, m.value)
		}
	}
}

func (x *index) place(b blob, piece int, offset int64) {
	if x.blobs[b] == nil {
		x.blobs[b] = make(map[int]int64, 1)
	}
	x.blobs[b][piece] = offset
}

// whole reports whether all pieces of a blob are there.
func (x *index) whole(b blob, at *stored) bool {
	have := x.blobs[b]
	for k := range at.Pieces {
		if _, ok := have[k]; !ok {
			return false
		}
	}
	return at.Pieces > 0
}

// complete reports whether a save's snapshot is.
func (x *index) complete(s save) bool {
	m := x.manifests[s]
	return m != nil && m.places != nil && m.each(x.whole)
}

// highest is the complete snapshot that is as of the highest offset, leaving out
// one save's; nil if there is none.
func (x *index) highest(but save) (top *manifest) {
	for s, m := range x.manifests {
		if s != but && (top == nil || s.At > top.At) && x.complete(s) {
			top = m
		}
	}
	return top
}

// garbage are the records that nobody needs once own is complete: those of
// lower saves that no complete snapshot at or above own refers to. What a save
// refers to that is not seen yet is not among them: it makes sure of that, see
// [Log.Save].
func (x *index) garbage(own *manifest) (keys []string) {
	live := make(map[blob]struct{})
	for s, m := range x.manifests {
		if s.At < own.At {
			keys = append(keys, s.manifestKey())
			continue
		}
		m.each(func(b blob, _ *stored) bool {
			live[b] = struct{}{}
			return true
		})
	}
	for b, pieces := range x.blobs {
		if _, needed := live[b]; needed || b.At >= own.At {
			continue
		}
		for k := range pieces {
			keys = append(keys, b.key(k))
		}
	}
	return keys
}
