package machine

import (
	"container/heap"
	"iter"
	"slices"
)

// Known are the actors of which anything is in memory, in the order of their
// ids: the first limit ones after an id. It looks at all of them, and keeps no
// more than it returns.
func (s *State) Known(after string, limit int) []string {
	page := make(highest, 0, limit)
	for actor := range s.residents {
		page.offer(actor, after, limit)
	}
	for actor := range s.reminders {
		if s.residents[actor] == nil {
			page.offer(actor, after, limit)
		}
	}
	slices.Sort(page)
	return page
}

// Counts are the numbers of requests and reminders of an actor.
func (s *State) Counts(actor string) (requests, reminders int) {
	return s.Depth(actor), len(s.reminders[actor])
}

// Reminders goes through the reminders of an actor, in the order of their names.
func (s *State) Reminders(actor string) iter.Seq[Reminder] {
	return func(yield func(Reminder) bool) {
		for _, name := range sortedKeys(s.reminders[actor]) {
			if !yield(*s.reminders[actor][name]) {
				return
			}
		}
	}
}

// highest is a heap of ids with the highest first: that which has to go.
type highest []string

func (h highest) Len() int           { return len(h) }
func (h highest) Less(i, j int) bool { return h[i] > h[j] }
func (h highest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *highest) Pop() any          { panic("machine: nothing is popped") }
func (h *highest) Push(x any) {
	id, _ := x.(string) // only offer pushes
	*h = append(*h, id)
}

// offer keeps an id if it is among the first limit ones after another.
func (h *highest) offer(id, after string, limit int) {
	switch {
	case id <= after:
	case len(*h) < limit:
		heap.Push(h, id)
	case len(*h) > 0 && id < (*h)[0]:
		(*h)[0] = id
		heap.Fix(h, 0)
	}
}
