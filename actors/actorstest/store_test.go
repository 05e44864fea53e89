package actorstest

import "sync"

// outside is a store that knows nothing of actors but refuses who is out of
// date: it remembers the highest fencing token of each of them.
type outside struct {
	mu     sync.Mutex
	sums   map[string]int
	tokens map[string]uint64
}

func newOutside() *outside {
	return &outside{sums: make(map[string]int), tokens: make(map[string]uint64)}
}

// get returns a sum, and false to who is out of date.
func (o *outside) get(id string, token uint64) (int, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sums[id], o.fresh(id, token)
}

func (o *outside) set(id string, token uint64, sum int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.fresh(id, token) {
		return false
	}
	o.sums[id] = sum
	return true
}

// fresh is asked under mu.
func (o *outside) fresh(id string, token uint64) bool {
	if token < o.tokens[id] {
		return false
	}
	o.tokens[id] = token
	return true
}

func (o *outside) sum(id string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sums[id]
}
