package otelmw

import (
	"maps"
	"sync"
	"sync/atomic"
)

// table is a map that is read with every call and written a few times in the
// life of a program: readers take no lock, writers copy. The zero value is
// ready.
type table[K comparable, V any] struct {
	mu      sync.Mutex // held by writers
	entries atomic.Pointer[map[K]V]
}

// get returns the value of k, if it has one.
func (t *table[K, V]) get(k K) (V, bool) {
	if m := t.entries.Load(); m != nil {
		v, ok := (*m)[k]
		return v, ok
	}
	var none V
	return none, false
}

// len returns how many keys have a value.
func (t *table[K, V]) len() int {
	if m := t.entries.Load(); m != nil {
		return len(*m)
	}
	return 0
}

// add returns the value of k, which it makes if there is none. It does not go
// beyond limit, unless that is 0, and then reports false.
func (t *table[K, V]) add(k K, limit int, fresh func() V) (V, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v, ok := t.get(k); ok {
		return v, true
	}
	if limit > 0 && t.len() >= limit {
		var none V
		return none, false
	}
	next := map[K]V{k: fresh()}
	if m := t.entries.Load(); m != nil {
		maps.Copy(next, *m)
	}
	t.entries.Store(&next)
	return next[k], true
}

// roster is a bounded set of names, those that came first.
type roster struct {
	names table[string, struct{}]
	limit int
}

// name returns s if it has a place, or gets one, and otherwise "other". It is
// free of locks once all places are taken.
func (r *roster) name(s string) string {
	s = valid(s)
	if s == "" {
		return ""
	}
	if _, ok := r.names.get(s); ok {
		return s
	}
	if r.names.len() < r.limit {
		if _, ok := r.names.add(s, r.limit, func() struct{} { return struct{}{} }); ok {
			return s
		}
	}
	return other
}
