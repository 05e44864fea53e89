package window

import "sync/atomic"

// Last counts the outcomes of the last size calls, for any size. It may be
// used by several goroutines at once.
type Last struct {
	size uint64
	// added counts the calls that were written to the circle; its remainder
	// is the next place.
	added          atomic.Uint64
	failures, slow atomic.Int64
	streak         streak
	failedAt       []atomic.Uint64
	slowAt         []atomic.Uint64
}

// NewLast makes a window of size calls, at least 1.
func NewLast(size int) *Last {
	words := (size + 63) / 64
	return &Last{
		size:     uint64(size),
		failedAt: make([]atomic.Uint64, words),
		slowAt:   make([]atomic.Uint64, words),
	}
}

// Add counts a call.
func (l *Last) Add(failed, slow bool) {
	l.streak.add(failed)
	if !failed && !slow && l.healthy() {
		return // the circle is all zeros, and one more zero changes nothing
	}
	at := (l.added.Add(1) - 1) % l.size
	if change := put(l.failedAt, at, failed); change != 0 {
		l.failures.Add(change)
	}
	if change := put(l.slowAt, at, slow); change != 0 {
		l.slow.Add(change)
	}
}

// healthy reports whether the window is full of calls that were neither failed
// nor slow.
func (l *Last) healthy() bool {
	return l.failures.Load() == 0 && l.slow.Load() == 0 && l.added.Load() >= l.size
}

// put writes a bit and returns by how much the number of set bits changed.
// The change is taken from the very operation that made it, so that the sums
// stay true even when the circle laps a goroutine that was held up.
func put(words []atomic.Uint64, at uint64, set bool) int64 {
	word, bit := &words[at/64], uint64(1)<<(at%64)
	switch was := word.Load()&bit != 0; {
	case set && !was:
		if word.Or(bit)&bit == 0 {
			return 1
		}
	case !set && was:
		if word.And(^bit)&bit != 0 {
			return -1
		}
	}
	return 0
}

// Counts counts the calls in the window.
func (l *Last) Counts() Counts {
	calls := min(l.added.Load(), l.size)
	return Counts{
		Calls:       int(calls),
		Failures:    within(l.failures.Load(), calls),
		Slow:        within(l.slow.Load(), calls),
		Consecutive: l.streak.count(),
	}
}

// within hides that a sum may briefly be ahead of, or behind, another.
func within(n int64, calls uint64) int { return int(min(max(n, 0), int64(calls))) }
