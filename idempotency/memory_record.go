package idempotency

import (
	"container/heap"

	"github.com/backstay-go/backstay"
)

// record is what a [Memory] knows of one key. The methods that only look may
// be called on nil: a key that nobody has used.
type record struct {
	claim   Claim
	print   Fingerprint
	done    bool
	kept    Record           // once done; its bytes do not change any more
	until   backstay.Instant // the end of the lease, then that of the retention
	place   int              // in the expiryQueue
	changed chan struct{}    // closed when no longer in flight; made by the first who waits
}

// judge decides what becomes of a claim. It is the whole law of [Store.Begin].
func (r *record) judge(now backstay.Instant, c Claim, f Fingerprint) State {
	switch {
	case !r.alive(now):
		return Started
	case r.print != f: // first, even while in flight
		return Mismatched
	case r.done:
		return Completed
	case r.claim.Owner == c.Owner:
		return Started
	default:
		return InFlight
	}
}

func (r *record) alive(now backstay.Instant) bool { return r != nil && now < r.until }

// owns reports whether c may renew, complete and release.
func (r *record) owns(now backstay.Instant, c Claim) bool {
	return r.alive(now) && !r.done && r.claim.Owner == c.Owner
}

// completedBy reports whether c is who completed the key.
func (r *record) completedBy(now backstay.Instant, c Claim) bool {
	return r.alive(now) && r.done && r.claim.Owner == c.Owner
}

func (r *record) size() int64 {
	return recordOverhead + int64(len(r.claim.Key)) + int64(len(r.kept.Answer))
}

// wake tells those who wait that the key is not in flight any longer.
func (r *record) wake() {
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// makeRoom drops what has expired: a few records each time, so that no caller
// pays for all, and as many as are needed where the store is full. It reports
// whether there is room for one more.
func (m *Memory) makeRoom(now backstay.Instant) bool {
	const few = 2 // more than the one that comes, so that the expired ones run out
	for n := 0; len(m.expiry) > 0 && !m.expiry[0].alive(now); n++ {
		if n >= few && m.hasRoom() {
			break
		}
		m.drop(m.expiry[0])
	}
	return m.hasRoom()
}

func (m *Memory) hasRoom() bool { return len(m.records) < m.maxRecords && m.bytes < m.maxBytes }

// drop forgets r.
func (m *Memory) drop(r *record) {
	r.wake()
	delete(m.records, r.claim.Key)
	heap.Remove(&m.expiry, r.place)
	m.bytes -= r.size()
}

// move changes when r expires.
func (m *Memory) move(r *record, until backstay.Instant) {
	r.until = until
	heap.Fix(&m.expiry, r.place)
}

// expiryQueue is a heap.Interface: the record that expires first is at 0.
type expiryQueue []*record

func (q expiryQueue) Len() int           { return len(q) }
func (q expiryQueue) Less(i, j int) bool { return q[i].until < q[j].until }

func (q expiryQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push is for package heap.
func (q *expiryQueue) Push(x any) {
	r := x.(*record) //nolint:errcheck,forcetypeassert // only records are pushed
	r.place = len(*q)
	*q = append(*q, r)
}

// Pop is for package heap.
func (q *expiryQueue) Pop() any {
	last := len(*q) - 1
	r := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return r
}
