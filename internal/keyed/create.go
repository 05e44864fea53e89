package keyed

import (
	"strings"

	"github.com/backstay-go/backstay"
)

// create returns the value of a key that the table did not seem to have: by
// waiting for it where somebody else is building it, else by building it.
func (m *Map[T]) create(index int, hash uint32, key string, now backstay.Instant) T {
	s := &m.shards[index]
	s.mu.Lock()
	e := s.find(hash, key)
	p := s.pending[key]
	if e == nil && p == nil {
		key = strings.Clone(key) // it may be a piece of something large
		p = s.promise(key)
		s.mu.Unlock()
		e = m.fulfil(s, p, hash, key, now)
		m.makeRoom(e, now)
		return e.value
	}
	s.mu.Unlock()
	if e == nil {
		<-p.done
		if e = p.made; e == nil {
			return m.Get(key, now) // whoever was building it panicked
		}
	}
	e.touch(now)
	return e.value
}

// promise announces that key is being built. The caller holds the lock.
func (s *shard[T]) promise(key string) *pending[T] {
	if s.pending == nil {
		s.pending = make(map[string]*pending[T])
	}
	p := &pending[T]{done: make(chan struct{})}
	s.pending[key] = p
	return p
}

// fulfil builds the value of key and keeps the promise p.
func (m *Map[T]) fulfil(s *shard[T], p *pending[T], hash uint32, key string, now backstay.Instant) *entry[T] {
	var e *entry[T]
	defer func() {
		s.mu.Lock()
		if e != nil { // build has returned
			s.insert(e)
			m.count.Add(1)
		}
		delete(s.pending, key)
		s.mu.Unlock()
		p.made = e
		close(p.done)
	}()
	v := m.build(key)
	e = &entry[T]{key: key, value: v, hash: hash}
	e.used.Store(uint32(stampOf(now)))
	return e
}
