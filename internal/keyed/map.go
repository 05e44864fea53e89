package keyed

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"

	"github.com/backstay-go/backstay"
)

const (
	keysPerShard = 256
	maxShards    = 64
)

// Map holds one value per key. It is safe for concurrent use.
type Map[T any] struct {
	seed   maphash.Seed
	shards []shard[T] // a power of two
	limit  int        // keys
	idle   int32      // half ticks without use
	build  func(key string) T
	hooks  Hooks[T]

	_     [64]byte      // readers need not notice that keys come and go
	count atomic.Int64  // keys in all shards
	turn  atomic.Uint32 // the shard to look at next for keys to give up
}

// New returns an empty map. build makes the value of a new key; it may use the
// map, but not ask it for the key it is building. A panic of build passes to
// the caller of Get, and the next Get of that key builds again. New panics if
// c is not valid: whoever takes a Config from outside validates it.
func New[T any](c Config, build func(key string) T, h Hooks[T]) *Map[T] {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	c = c.withDefaults()
	m := &Map[T]{
		seed: maphash.MakeSeed(), limit: c.MaxKeys, idle: halfTicks(c.IdleAfter),
		build: build, hooks: h,
	}
	wanted := min(max(c.MaxKeys/keysPerShard, 1), maxShards)
	m.shards = make([]shard[T], 1<<(bits.Len(uint(wanted))-1))
	for i := range m.shards {
		m.shards[i].table.Store(newTable[T](minSlots))
	}
	return m
}

// home returns the shard of key and the hash within it.
func (m *Map[T]) home(key string) (index int, hash uint32) {
	h := maphash.String(m.seed, key)
	return int(h>>32) & (len(m.shards) - 1), uint32(h)
}

// Get returns the value of key and notes that it is used at now. The value of
// a new key is built first; where that is under way already, Get waits for it.
func (m *Map[T]) Get(key string, now backstay.Instant) T {
	i, hash := m.home(key)
	if e := m.shards[i].find(hash, key); e != nil {
		e.touch(now)
		return e.value
	}
	return m.create(i, hash, key, now)
}

// Peek returns the value of key if there is one, without using it.
func (m *Map[T]) Peek(key string) (v T, ok bool) {
	i, hash := m.home(key)
	s := &m.shards[i]
	e := s.find(hash, key)
	if e == nil {
		s.mu.Lock()
		e = s.find(hash, key)
		s.mu.Unlock()
	}
	if e == nil {
		return v, false
	}
	return e.value, true
}

// Delete removes key and returns the value it had. A value that is being built
// at that moment is not affected.
func (m *Map[T]) Delete(key string) (v T, ok bool) {
	i, hash := m.home(key)
	s := &m.shards[i]
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.find(hash, key)
	if e == nil {
		return v, false
	}
	s.remove(e)
	m.count.Add(-1)
	return e.value, true
}

// Range calls yield for every key until it returns false, in no order and
// without using the keys. Keys that come or go meanwhile may be left out; none
// is told twice. yield runs outside every lock and may use the map.
func (m *Map[T]) Range(yield func(key string, v T) bool) {
	for i := range m.shards {
		for _, e := range m.shards[i].entries() {
			if !yield(e.key, e.value) {
				return
			}
		}
	}
}

// Len returns the number of keys.
func (m *Map[T]) Len() int { return int(m.count.Load()) }
