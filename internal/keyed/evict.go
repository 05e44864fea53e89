package keyed

import (
	"cmp"
	"slices"

	"github.com/backstay-go/backstay"
)

const (
	// sweep is how many keys a creation looks at, below the bound, to find
	// idle ones: more than come in, so that the hand gets round.
	sweep = 4
	// window is how many it looks at to find the least recently used.
	window = 16
	// windows is how often it does so, at most, to get below the bound.
	windows = 4
)

// makeRoom gives up idle keys and, while there are too many, those least
// recently used; keep is the key that was just created.
func (m *Map[T]) makeRoom(keep *entry[T], now backstay.Instant) {
	if !m.over() {
		m.examine(sweep, keep, now)
		return
	}
	for range windows {
		m.examine(window, keep, now)
		if !m.over() {
			return
		}
	}
}

func (m *Map[T]) over() bool { return m.Len() > m.limit }

// examine looks at the next n keys of the shard whose turn it is. Of those that
// are not busy the idle ones go and, if there are too many keys then, the least
// recently used.
func (m *Map[T]) examine(n int, keep *entry[T], now backstay.Instant) {
	s := &m.shards[int(m.turn.Add(1))&(len(m.shards)-1)]
	var buf [window]seen[T]
	found := s.sample(buf[:0:n])
	slices.SortFunc(found, func(a, b seen[T]) int { return cmp.Compare(a.at.since(b.at), 0) })
	for _, e := range found {
		idle := stampOf(now).since(e.at) > m.idle
		if !idle && !m.over() {
			return
		}
		if e.entry == keep || m.busy(e.value) {
			continue
		}
		if m.evict(s, e) && !idle {
			return
		}
	}
}

func (m *Map[T]) busy(v T) bool { return m.hooks.Busy != nil && m.hooks.Busy(v) }

// evict gives e up unless it was used since it was seen, or is gone already.
func (m *Map[T]) evict(s *shard[T], e seen[T]) bool {
	s.mu.Lock()
	gone := e.lastUsed() == e.at && s.remove(e.entry)
	if gone {
		m.count.Add(-1)
	}
	s.mu.Unlock()
	if gone && m.hooks.Evicted != nil {
		m.hooks.Evicted(e.key, e.value)
	}
	return gone
}
