package machine

import (
	"slices"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// Entry is a request in its mailbox, with what is known of its link.
type Entry struct {
	record.Request
	// Calls counts the Issued and Write records applied to this link.
	Calls uint64
	// Tries is the number of the last attempt of this link that is on record.
	Tries uint64
	// RetryAt is when the next attempt may start, 0 for at once.
	RetryAt int64
	// Queued is the log's time when the request came in.
	Queued int64
	// Held says that the link before it kept the actor: P7.
	Held bool
	// Cancelled says that its caller's attempt is gone.
	Cancelled bool

	issued     []Child
	resident   *resident
	prev, next *Entry
}

// Child is a nested call that has not been answered.
type Child struct {
	ID record.ID
	// Partition is where it was sent; after a tail call it may be elsewhere.
	Partition record.Partition
}

// Issued are the nested calls that have not been answered, oldest first. They
// must not be changed.
func (e *Entry) Issued() []Child { return e.issued }

// marked reports whether the link's marks in the log keep its actor: it waits
// for children, it was kept by the link before (H4), or it ran in part (H26).
// Not whether it has begun: tails carry that, and two siblings that tail-call
// onto their ancestor's actor would wait for each other (R44).
func (e *Entry) marked() bool { return len(e.issued) > 0 || e.Held || e.Calls > 0 }

// descends reports whether id is among the callers of e.
func (e *Entry) descends(id record.ID) bool { return slices.Contains(e.Ancestors, id) }

// answered takes a child off, and reports whether it was there.
func (e *Entry) answered(child record.ID) bool {
	i := slices.IndexFunc(e.issued, func(c Child) bool { return c.ID == child })
	if i < 0 {
		return false
	}
	e.issued = slices.Delete(e.issued, i, i+1)
	return true
}

// Lookup returns the entry of a request, nil if it is not here. It must not be
// changed, and is good until the next Apply.
func (s *State) Lookup(id record.ID) *Entry {
	if s.entries.used == 0 {
		return nil
	}
	hash, mask := hashOf(id), s.entries.mask()
	for at := hash & mask; ; at = (at + 1) & mask {
		x := &s.entries.slots[at]
		if x.empty() || x.hash == hash && x.thing.ID == id {
			return x.thing
		}
	}
}

// Live is the number of entries.
func (s *State) Live() int { return s.entries.used }
