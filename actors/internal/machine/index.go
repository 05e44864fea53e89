package machine

import (
	"encoding/binary"
	"math/bits"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// index finds things by what their ids hash to. It is a table with linear
// probing: ids are random, or hashes themselves, so that little need be done to
// spread them, and a look-up mostly touches one slot. Several may have the same
// hash.
type index[T comparable] struct {
	slots []slot[T] // as many as a power of two, at least half of them empty
	used  int
}

// slot has a thing, or the zero one if it is empty.
type slot[T comparable] struct {
	hash  uint32
	thing T
}

func (s *slot[T]) empty() bool {
	var none T
	return s.thing == none
}

// fewSlots is the size of the first table.
const fewSlots = 64

// hashOf multiplies the halves of an id, so that every bit of it counts.
func hashOf(id record.ID) uint32 {
	const one, other = 0x9e3779b97f4a7c15, 0xe7037ed1a0b428db
	high, low := bits.Mul64(binary.LittleEndian.Uint64(id[:])^one, binary.LittleEndian.Uint64(id[8:])^other)
	return uint32(high ^ low) //nolint:gosec // half of it is enough
}

func (x *index[T]) mask() uint32 { return uint32(len(x.slots) - 1) } //nolint:gosec // as many as there are hashes, at most

// add notes a thing.
func (x *index[T]) add(hash uint32, thing T) {
	if 2*x.used >= len(x.slots) {
		x.grow()
	}
	x.used++
	x.put(slot[T]{hash, thing})
}

func (x *index[T]) put(s slot[T]) {
	mask := x.mask()
	at := s.hash & mask
	for !x.slots[at].empty() {
		at = (at + 1) & mask
	}
	x.slots[at] = s
}

func (x *index[T]) grow() {
	old := x.slots
	x.slots = make([]slot[T], max(2*len(old), fewSlots))
	for _, s := range old {
		if !s.empty() {
			x.put(s)
		}
	}
}

// remove forgets a thing. Those behind it that it was in the way of move up.
func (x *index[T]) remove(hash uint32, thing T) {
	mask := x.mask()
	at := hash & mask
	for x.slots[at].thing != thing {
		at = (at + 1) & mask
	}
	x.used--
	for next := (at + 1) & mask; !x.slots[next].empty(); next = (next + 1) & mask {
		if home := x.slots[next].hash & mask; (next-home)&mask >= (next-at)&mask {
			x.slots[at] = x.slots[next]
			at = next
		}
	}
	x.slots[at] = slot[T]{}
}
