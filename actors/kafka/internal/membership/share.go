package membership

import (
	"cmp"
	"maps"
	"slices"

	"github.com/backstay-go/backstay/actors/journal"
)

// subscriber is a member of the group as the one that shares out sees it.
type subscriber struct {
	id     string
	counts map[string]uint32 // partitions by type: it hosts these types
	owned  []journal.Partition
	// generation of the group in which it was given what it owns: who was cut
	// off for a while may claim what others have got since.
	generation int32
}

// share gives every partition of every hosted type to one of its hosts. Of each
// type the shares differ by one at most, then the sums over all types as little
// as single moves can reach. Who has a partition keeps it, if that allows. The
// result depends on nothing but the arguments, and sharing out again what it
// gives changes nothing.
func share(members []subscriber) map[string][]journal.Partition {
	s := newSharing(members)
	for _, t := range slices.Sorted(maps.Keys(s.counts)) {
		s.deal(t)
	}
	for s.level() {
	}
	all := make(map[string][]journal.Partition, len(members))
	for id, of := range s.shares {
		for _, t := range slices.Sorted(maps.Keys(of)) {
			slices.Sort(of[t])
			for _, i := range of[t] {
				all[id] = append(all[id], journal.Partition{Type: t, Index: i})
			}
		}
	}
	return all
}

// sharing is the work of share.
type sharing struct {
	counts map[string]uint32
	hosts  map[string][]string            // by type, sorted
	owner  map[journal.Partition]string   // before
	shares map[string]map[string][]uint32 // by member, by type
	load   map[string]int                 // by member
}

func newSharing(members []subscriber) *sharing {
	s := &sharing{
		counts: make(map[string]uint32), hosts: make(map[string][]string), owner: make(map[journal.Partition]string),
		shares: make(map[string]map[string][]uint32), load: make(map[string]int),
	}
	members = slices.SortedFunc(slices.Values(members), func(a, b subscriber) int {
		return cmp.Or(cmp.Compare(b.generation, a.generation), cmp.Compare(a.id, b.id))
	})
	for _, m := range members {
		s.shares[m.id] = make(map[string][]uint32)
		for t, n := range m.counts {
			s.hosts[t] = append(s.hosts[t], m.id)
			s.counts[t] = max(s.counts[t], n)
		}
		for _, p := range m.owned {
			if _, hosts := m.counts[p.Type]; hosts && s.owner[p] == "" { // the latest generation's
				s.owner[p] = m.id
			}
		}
	}
	for _, of := range s.hosts {
		slices.Sort(of)
	}
	return s
}

// deal shares out one type.
func (s *sharing) deal(t string) {
	held := make(map[string][]uint32)
	var rest []uint32
	for i := range s.counts[t] {
		if id := s.owner[journal.Partition{Type: t, Index: i}]; id != "" {
			held[id] = append(held[id], i)
		} else {
			rest = append(rest, i)
		}
	}
	hosts := s.hosts[t]
	least, larger := int(s.counts[t])/len(hosts), int(s.counts[t])%len(hosts)
	order := slices.SortedFunc(slices.Values(hosts), func(a, b string) int { // who has more than the least first
		return cmp.Or(
			cmp.Compare(min(len(held[b]), least+1), min(len(held[a]), least+1)),
			cmp.Compare(s.load[a], s.load[b]), cmp.Compare(a, b),
		)
	})
	room := make(map[string]int, len(hosts))
	for i, id := range order {
		room[id] = least
		if i < larger {
			room[id]++
		}
		keep := min(len(held[id]), room[id])
		rest = append(rest, held[id][keep:]...)
		s.give(id, t, held[id][:keep])
	}
	slices.Sort(rest)
	for _, id := range order {
		n := room[id] - len(s.shares[id][t])
		s.give(id, t, rest[:n])
		rest = rest[n:]
	}
}

func (s *sharing) give(id, t string, partitions []uint32) {
	s.shares[id][t] = append(s.shares[id][t], partitions...)
	s.load[id] += len(partitions)
}

// level moves one partition from a member that has much to one that has little,
// where the type's shares allow, and reports whether there was such a pair. Each
// move makes the sum of the squares of the loads smaller, so this ends.
func (s *sharing) level() bool {
	for _, t := range slices.Sorted(maps.Keys(s.hosts)) {
		least := int(s.counts[t]) / len(s.hosts[t])
		from, to := "", ""
		for _, id := range s.hosts[t] {
			if more := len(s.shares[id][t]) > least; more && (from == "" || s.load[id] > s.load[from]) {
				from = id
			} else if !more && (to == "" || s.load[id] < s.load[to]) {
				to = id
			}
		}
		if from != "" && to != "" && s.load[from]-s.load[to] >= 2 {
			s.move(t, from, to)
			return true
		}
	}
	return false
}

// move moves one partition: one that has to move anyway, if there is one.
func (s *sharing) move(t, from, to string) {
	mine := s.shares[from][t]
	i := slices.IndexFunc(mine, func(p uint32) bool { return s.owner[journal.Partition{Type: t, Index: p}] != from })
	if i < 0 {
		i = len(mine) - 1
	}
	p := mine[i]
	s.shares[from][t] = slices.Delete(mine, i, i+1)
	s.load[from]--
	s.give(to, t, []uint32{p})
}
