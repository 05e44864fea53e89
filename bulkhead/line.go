package bulkhead

import "github.com/backstay-go/backstay"

// A verdict is what became of a waiter.
type verdict uint8

const (
	waiting  verdict = iota // none yet
	admitted                // it holds a permit
	full                    // there was no place in the queue, or it has become too heavy
	shed                    // it gave way to a call of higher priority
	expired                 // its longest wait is over
)

// A waiter is a call in the queue. Two small allocations, itself and its
// channel, are all that it costs.
type waiter struct {
	next, prev *waiter
	ready      chan struct{}    // closed with the verdict
	until      backstay.Instant // the end of its longest wait; 0: none
	weight     int64
	rank       rank
	verdict    verdict // written and read under the queue's lock until ready is closed
}

// A line is the order in which waiters are served: by rank, and within a rank
// as they came. It decides nothing and locks nothing.
type line struct {
	first, last [ranks]*waiter
	length      int64
}

// join puts w at the end of its rank.
func (l *line) join(w *waiter) {
	if w.prev = l.last[w.rank]; w.prev == nil {
		l.first[w.rank] = w
	} else {
		w.prev.next = w
	}
	l.last[w.rank] = w
	l.length++
}

// leave takes w, which must be in the line, out of it.
func (l *line) leave(w *waiter) {
	if w.prev == nil {
		l.first[w.rank] = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		l.last[w.rank] = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.next, w.prev = nil, nil
	l.length--
}

// head returns who is served next, nil if nobody waits.
func (l *line) head() *waiter {
	for _, w := range l.first {
		if w != nil {
			return w
		}
	}
	return nil
}

// goesFirst reports whether a newcomer of rank r would be at the head.
func (l *line) goesFirst(r rank) bool {
	w := l.head()
	return w == nil || w.rank > r
}

// leastBelow returns the newest waiter of the last rank, if that rank is below
// r: the one to give way to a newcomer of rank r.
func (l *line) leastBelow(r rank) *waiter {
	for i := rank(ranks - 1); i > r; i-- {
		if w := l.last[i]; w != nil {
			return w
		}
	}
	return nil
}

// oldest returns the waiter whose longest wait is over first. All may wait
// equally long, so it is the first of some rank.
func (l *line) oldest() *waiter {
	var oldest *waiter
	for _, w := range l.first {
		if w != nil && (oldest == nil || w.until < oldest.until) {
			oldest = w
		}
	}
	return oldest
}
