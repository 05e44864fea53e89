package memory

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/backstay-go/backstay/actors/journal"
)

// group shares the partitions out.
type group struct {
	count uint32

	mu      sync.Mutex
	members []*membership
}

// membership is one member's view.
type membership struct {
	group *group
	journal.Member
	assigned []journal.Partition
	changed  chan struct{}
}

// Join takes the member in; others give it their surplus.
func (l *Log) Join(_ context.Context, m journal.Member) (journal.Membership, error) {
	g := &l.group
	g.mu.Lock()
	defer g.mu.Unlock()
	self := &membership{group: g, Member: m, changed: make(chan struct{})}
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

// shareType gives every host an equal share, give or take one. Hosts keep what
// they have, up to their share, so that as few partitions as possible move.
func (g *group) shareType(t string, hosts []*membership, shares map[*membership][]journal.Partition) {
	held := make(map[*membership][]journal.Partition, len(hosts))
	for _, m := range hosts {
		held[m] = m.holds(t)
	}
	slices.SortStableFunc(hosts, func(a, b *membership) int { return cmp.Compare(len(held[b]), len(held[a])) })
	share, larger := int(g.count)/len(hosts), int(g.count)%len(hosts)
	taken := make(map[journal.Partition]bool, g.count)
	room := make([]int, len(hosts))
	for i, m := range hosts {
		room[i] = share
		if i < larger { // those that have most
			room[i]++
		}
		for _, p := range held[m][:min(len(held[m]), room[i])] {
			taken[p] = true
			shares[m] = append(shares[m], p)
			room[i]--
		}
	}
	rest := g.without(t, taken)
	for i, m := range hosts {
		shares[m] = append(shares[m], rest[:room[i]]...)
		rest = rest[room[i]:]
	}
}

// holds are the partitions of a type that a member has.
func (m *membership) holds(t string) (all []journal.Partition) {
	for _, p := range m.assigned {
		if p.Type == t {
			all = append(all, p)
		}
	}
	return all
}

// without are the partitions of a type that nobody has taken.
func (g *group) without(t string, taken map[journal.Partition]bool) (all []journal.Partition) {
	for i := range g.count {
		if p := (journal.Partition{Type: t, Index: i}); !taken[p] {
			all = append(all, p)
		}
	}
	return all
}

// assign tells the member, if anything changed.
func (m *membership) assign(all []journal.Partition) {
	slices.SortFunc(all, comparePartitions)
	if slices.Equal(all, m.assigned) {
		return
	}
	m.assigned = all
	close(m.changed)
	m.changed = make(chan struct{})
}
