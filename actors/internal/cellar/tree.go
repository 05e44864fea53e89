package cellar

import (
	"maps"
	"slices"

	"github.com/backstay-go/backstay/actors/journal"
)

// tree says which chunk has which actors. A chunk is a leaf of a binary tree
// over the bits of the actors' hashes, the lowest first; its number is these
// bits below a one. So an actor is in the leaf whose number ends its hash, and
// when a leaf is split, no other changes.
type tree map[uint32]int64 // leaf: the offset as of which it was last written

const (
	root    = 1
	deepest = 31 // how many bits a number has room for
)

// spread is the hash of an actor. It has nothing to do with that by which
// partitions are chosen: all actors of a partition agree in that.
func spread[T string | []byte](actor T) uint32 {
	h := uint32(2166136261)
	for i := range len(actor) {
		h = (h ^ uint32(actor[i])) * 16777619 // FNV-1a, and then every bit in every other
	}
	h ^= h >> 16
	h *= 0x7feb352d
	h ^= h >> 15
	h *= 0x846ca68b
	return h ^ h>>16
}

// leaf finds the chunk of a hash; false if there is no chunk at all.
func (t tree) leaf(hash uint32) (number uint32, found bool) {
	for depth := 0; depth <= deepest; depth++ {
		number = 1<<depth | hash&(1<<depth-1)
		if _, found = t[number]; found {
			return number, true
		}
	}
	return root, false
}

// chunks lists the leaves, as a manifest does.
func (t tree) chunks() []journal.Chunk {
	all := make([]journal.Chunk, 0, len(t))
	for _, number := range slices.Sorted(maps.Keys(t)) {
		all = append(all, journal.Chunk{Number: number, At: t[number]})
	}
	return all
}

// below lists the leaves at the place of one, which may have been split.
func (t tree) below(number uint32) (all []journal.Chunk) {
	path := uint32(1)<<depthOf(number) - 1 // the bits that they have in common
	for _, c := range t.chunks() {
		if c.Number >= number && c.Number&path == number&path {
			all = append(all, c)
		}
	}
	return all
}

// grow puts a page in the place of a leaf, in halves for as long as it is
// larger than size, and hands on each piece.
func (t tree) grow(number uint32, p *page, at int64, size int, piece func(journal.Chunk, *page)) {
	depth := depthOf(number)
	if len(p.rows) <= 1 || depth == deepest || p.size() <= size {
		t[number] = at
		piece(journal.Chunk{Number: number, At: at}, p)
		return
	}
	delete(t, number)
	halves := [2]page{}
	for _, r := range p.rows {
		bit := spread(r.actor) >> depth & 1
		halves[bit].rows = append(halves[bit].rows, r)
	}
	path := number &^ (1 << depth)
	for bit := range halves {
		t.grow(1<<(depth+1)|uint32(bit)<<depth|path, &halves[bit], at, size, piece) //nolint:gosec // 0 or 1
	}
}

// depthOf is how many bits of a hash a leaf's number has.
func depthOf(number uint32) (depth int) {
	for ; number > 1; number >>= 1 {
		depth++
	}
	return depth
}
