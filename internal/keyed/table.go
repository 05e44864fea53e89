package keyed

import "sync/atomic"

// minSlots is the size of the smallest table.
const minSlots = 8

// table is an open-addressed hash table with linear probing. Its size is a
// power of two and it is at most half full, so that every probe ends. Writers
// hold the shard's lock; find needs none.
type table[T any] struct {
	slots []atomic.Pointer[entry[T]]
}

func newTable[T any](size int) *table[T] {
	return &table[T]{slots: make([]atomic.Pointer[entry[T]], size)}
}

// find returns the entry of key, or nil. Without the lock, nil may also mean
// that a writer was moving the entry.
func (t *table[T]) find(hash uint32, key string) *entry[T] {
	mask := uint32(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		e := t.slots[i].Load()
		if e == nil || e.hash == hash && e.key == key {
			return e
		}
	}
}

// insert puts e, whose key is not there yet, into a free slot.
func (t *table[T]) insert(e *entry[T]) {
	mask := uint32(len(t.slots) - 1)
	i := e.hash & mask
	for t.slots[i].Load() != nil {
		i = (i + 1) & mask
	}
	t.slots[i].Store(e)
}

// remove takes e out and reports whether it was there. The entries behind it
// move up, so that no probe meets a hole before its goal; each is stored in
// its new slot before it leaves the old one.
func (t *table[T]) remove(e *entry[T]) bool {
	mask := uint32(len(t.slots) - 1)
	hole := e.hash & mask
	for {
		found := t.slots[hole].Load()
		if found == nil {
			return false
		}
		if found == e {
			break
		}
		hole = (hole + 1) & mask
	}
	for i := (hole + 1) & mask; ; i = (i + 1) & mask {
		next := t.slots[i].Load()
		if next == nil {
			break
		}
		// next may move up to the hole unless its home lies behind it.
		if (i-next.hash)&mask >= (i-hole)&mask {
			t.slots[hole].Store(next)
			hole = i
		}
	}
	t.slots[hole].Store(nil)
	return true
}

// resized returns a table of another size with the same entries. t stays as it
// is, for those who are still reading it.
func (t *table[T]) resized(size int) *table[T] {
	bigger := newTable[T](size)
	for i := range t.slots {
		if e := t.slots[i].Load(); e != nil {
			bigger.insert(e)
		}
	}
	return bigger
}
