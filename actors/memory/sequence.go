package memory

import "github.com/backstay-go/backstay/actors/journal"

// blockSize is how many entries lie together.
const blockSize = 256

// sequence has the entries of a partition. They lie in blocks, so that it grows
// without being copied; what a reader was given of one is not touched again.
type sequence struct {
	base        int64 // the offset of the first place of the first block
	first, next int64 // the entries that there are
	blocks      [][]journal.Entry
}

// sequenceOf begins at an offset.
func sequenceOf(first int64) sequence { return sequence{base: first, first: first, next: first} }

func (s *sequence) add(e journal.Entry) {
	last := len(s.blocks) - 1
	if last < 0 || len(s.blocks[last]) == blockSize {
		s.blocks = append(s.blocks, make([]journal.Entry, 0, blockSize))
		last++
	}
	s.blocks[last] = append(s.blocks[last], e)
	s.next++
}

// from are the entries from an offset on, which there must be, that lie in its
// block.
func (s *sequence) from(offset int64) []journal.Entry {
	i := offset - s.base
	return s.blocks[i/blockSize][i%blockSize:]
}

// below are all entries below an offset.
func (s *sequence) below(end int64) []journal.Entry {
	all := make([]journal.Entry, 0, end-s.first)
	for o := s.first; o < end; {
		some := s.from(o)
		some = some[:min(int64(len(some)), end-o)]
		all = append(all, some...)
		o += int64(len(some))
	}
	return all
}

// drop drops the entries below an offset, so that they can be collected.
func (s *sequence) drop(below int64) {
	s.first = below
	whole := (below - s.base) / blockSize
	s.blocks = append([][]journal.Entry(nil), s.blocks[whole:]...)
	s.base += whole * blockSize
	if rest := below - s.base; rest > 0 {
		part := make([]journal.Entry, len(s.blocks[0]), blockSize)
		copy(part[rest:], s.blocks[0][rest:])
		s.blocks[0] = part
	}
}

// retract takes the entries from an offset on back.
func (s *sequence) retract(from int64) {
	s.next = from
	i := from - s.base
	if left := int(i / blockSize); left < len(s.blocks) {
		s.blocks[left] = s.blocks[left][:i%blockSize]
		clear(s.blocks[left+1:])
		s.blocks = s.blocks[:left+1]
	}
}
