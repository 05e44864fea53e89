package fallback

import (
	"sync"
	"time"

	"github.com/backstay-go/backstay"
)

// shelf keeps the newest value of each key, for the most recently used keys.
type shelf[S any] struct {
	limit int

	mu    sync.Mutex
	items map[string]*item[S]
	ring  item[S] // ring.next is the most recently used one, ring.prev the least
}

type item[S any] struct {
	key        string
	value      S
	at         backstay.Instant // when the value arrived
	next, prev *item[S]
	// claimed is true while a refresh of the key runs; tried says that one has
	// ended, and when.
	claimed, tried bool
	ended          backstay.Instant
}

func newShelf[S any](limit int) *shelf[S] {
	s := &shelf[S]{limit: limit, items: make(map[string]*item[S])}
	s.ring.next, s.ring.prev = &s.ring, &s.ring
	return s
}

// put keeps the value of key that arrived at the instant at, unless a newer
// one is there already.
func (s *shelf[S]) put(key string, value S, at backstay.Instant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	it, ok := s.items[key]
	if !ok {
		if len(s.items) >= s.limit {
			s.remove(s.ring.prev)
		}
		it = &item[S]{key: key, at: at}
		s.items[key] = it
	}
	s.touch(it)
	if at >= it.at {
		it.value, it.at = value, at
	}
}

// get returns the value of key and when it arrived.
func (s *shelf[S]) get(key string) (value S, at backstay.Instant, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	it, ok := s.items[key]
	if !ok {
		return value, 0, false
	}
	s.touch(it)
	return it.value, it.at, true
}

// drop forgets the value of key that arrived at the instant at.
func (s *shelf[S]) drop(key string, at backstay.Instant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if it, ok := s.items[key]; ok && it.at == at {
		s.remove(it)
	}
}

// claim takes the right to refresh key, if it is free and has rested for that
// long, and returns how to give it back. The right goes with the item: where
// that was dropped meanwhile, giving it back does no harm to the next one.
func (s *shelf[S]) claim(key string, now backstay.Instant, rest time.Duration) (release func(backstay.Instant), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	it, ok := s.items[key]
	if !ok || it.claimed || (it.tried && now.Sub(it.ended) < rest) {
		return nil, false
	}
	it.claimed = true
	return func(end backstay.Instant) {
		s.mu.Lock()
		defer s.mu.Unlock()
		it.claimed, it.tried, it.ended = false, true, end
	}, true
}

// touch makes it the most recently used one.
func (s *shelf[S]) touch(it *item[S]) {
	if s.ring.next == it {
		return
	}
	if it.next != nil {
		it.next.prev, it.prev.next = it.prev, it.next
	}
	it.prev, it.next = &s.ring, s.ring.next
	it.next.prev, s.ring.next = it, it
}

func (s *shelf[S]) remove(it *item[S]) {
	it.next.prev, it.prev.next = it.prev, it.next
	it.next, it.prev = nil, nil
	delete(s.items, it.key)
}
