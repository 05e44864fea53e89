package memory

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"sync"

	"github.com/backstay-go/backstay/actors/journal"
)

// group shares the partitions out.
type group struct {
	count uint32

	mu      sync.Mutex
	joined  uint64
	members []*membership
}

// membership is one member's view.
type membership struct {
	group *group
	seat  uint64
	journal.Member
	assigned []journal.Partition
	changed  chan struct{}
}

// Join takes the member in; others give it their surplus.
func (l *Log) Join(_ context.Context, m journal.Member) (journal.Membership, error) {
	g := &l.group
	g.mu.Lock()
	defer g.mu.Unlock()
	g.joined++
	self := &membership{group: g, seat: g.joined, Member: m, changed: make(chan struct{})}
	g.members = append(g.members, self)
	g.share()
	return self, nil
}

// Assigned returns the member's partitions.
func (m *membership) Assigned() ([]journal.Partition, <-chan struct{}) {
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	return m.assigned, m.changed
}

// Members are those that have joined and not left.
func (m *membership) Members() []journal.Member {
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	all := make([]journal.Member, len(m.group.members))
	for i, other := range m.group.members {
		all[i] = other.Member
	}
	return all
}

// Leave takes effect at once.
func (m *membership) Leave(context.Context) error {
	g := m.group
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = slices.DeleteFunc(g.members, func(other *membership) bool { return other == m })
	m.assign(nil)
	g.share()
	return nil
}

// share gives every partition of every hosted type to one of its hosts.
func (g *group) share() {
	hosts := make(map[string][]*membership)
	for _, m := range g.members {
		for t := range m.Methods {
			hosts[t] = append(hosts[t], m)
		}
	}
	shares := make(map[*membership][]journal.Partition)
	for t, of := range hosts {
		g.shareType(t, of, shares)
	}
	for _, m := range g.members {
		m.assign(shares[m])
	}
}

// shareType fills seats of equal size, give or take one, by rendezvous
// hashing: who has the highest score for a partition and a free place gets it,
// so that a change moves few.
func (g *group) shareType(t string, hosts []*membership, shares map[*membership][]journal.Partition) {
	room := (int(g.count) + len(hosts) - 1) / len(hosts)
	taken := make(map[*membership]int)
	for i := range g.count {
		p := journal.Partition{Type: t, Index: i}
		ranked := slices.Clone(hosts)
		slices.SortFunc(ranked, func(a, b *membership) int { return cmp.Compare(score(p, b), score(p, a)) })
		for _, m := range ranked {
			if taken[m] < room {
				taken[m]++
				shares[m] = append(shares[m], p)
				break
			}
		}
	}
}

func score(p journal.Partition, m *membership) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(p.Type)) // a hash does not fail
	_, _ = h.Write([]byte{byte(p.Index), byte(p.Index >> 8), byte(p.Index >> 16), byte(p.Index >> 24)})
	_, _ = h.Write([]byte{byte(m.seat), byte(m.seat >> 8), byte(m.seat >> 16), byte(m.seat >> 24)})
	x := h.Sum64() // its low bits depend little on the last bytes: mix them
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x
}

// assign tells the member, if anything changed.
func (m *membership) assign(all []journal.Partition) {
	slices.SortFunc(all, func(a, b journal.Partition) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Index, b.Index))
	})
	if slices.Equal(all, m.assigned) {
		return
	}
	m.assigned = all
	close(m.changed)
	m.changed = make(chan struct{})
}
