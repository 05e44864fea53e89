package keyed

import (
	"sync"
	"sync/atomic"
)

// shard is a part of the keys under one lock. Readers go by table alone.
type shard[T any] struct {
	table atomic.Pointer[table[T]]

	mu      sync.Mutex // guards the table's writers and all below
	n       int        // entries in the table
	hand    uint32     // where the next sample begins
	pending map[string]*pending[T]

	_ [24]byte // a cache line each: the locks of one shard do not slow the readers of the next
}

// pending is a key whose value is being built. made is set before done is
// closed; it stays nil where the build function panicked.
type pending[T any] struct {
	done chan struct{}
	made *entry[T]
}

// find returns the entry of key, or nil. A nil found without the lock may be a
// false one.
func (s *shard[T]) find(hash uint32, key string) *entry[T] {
	return s.table.Load().find(hash, key)
}

// insert adds e. The caller holds the lock.
func (s *shard[T]) insert(e *entry[T]) {
	t := s.table.Load()
	s.n++
	if s.n > len(t.slots)/2 {
		t = t.resized(2 * len(t.slots))
		s.table.Store(t)
	}
	t.insert(e)
}

// remove takes e out, if it is still there. The caller holds the lock.
func (s *shard[T]) remove(e *entry[T]) bool {
	t := s.table.Load()
	if !t.remove(e) {
		return false
	}
	s.n--
	if len(t.slots) > minSlots && s.n < len(t.slots)/8 {
		s.table.Store(t.resized(len(t.slots) / 2))
	}
	return true
}

// seen is an entry and its stamp at the time of looking.
type seen[T any] struct {
	*entry[T]
	at stamp
}

// sample appends to into the entries that the hand passes next, until into is
// full, the hand has been round once, or it found too little on a long way.
func (s *shard[T]) sample(into []seen[T]) []seen[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	slots := s.table.Load().slots
	mask := uint32(len(slots) - 1)
	// An eighth of the slots is taken at least, unless the table is tiny.
	for range min(len(slots), 16*cap(into)) {
		if len(into) == cap(into) {
			break
		}
		if e := slots[s.hand&mask].Load(); e != nil {
			into = append(into, seen[T]{e, e.lastUsed()})
		}
		s.hand++
	}
	return into
}

// entries returns all entries there are.
func (s *shard[T]) entries() []*entry[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*entry[T], 0, s.n)
	slots := s.table.Load().slots
	for i := range slots {
		if e := slots[i].Load(); e != nil {
			all = append(all, e)
		}
	}
	return all
}
