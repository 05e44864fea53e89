package actorstest

import (
	"context"
	"slices"
	"time"

	"github.com/backstay-go/backstay/actors/journal"
)

// hosting joins a member that hosts these types.
func (r *rig) hosting(name string, types ...string) journal.Membership {
	r.Helper()
	methods := make(map[string][]string)
	for _, t := range types {
		methods[t] = []string{"method"}
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	m, err := r.Join(ctx, journal.Member{Name: name, Methods: methods})
	if err != nil {
		r.Fatalf("Join: %v", err)
	}
	return m
}

func (r *rig) leave(m journal.Membership) {
	r.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := m.Leave(ctx); err != nil {
		r.Errorf("Leave: %v", err)
	}
}

// assigned returns what a member has, by partition of the type.
func assigned(actorType string, members ...journal.Membership) map[uint32][]int {
	owners := make(map[uint32][]int)
	for i, m := range members {
		all, _ := m.Assigned()
		for _, p := range all {
			if p.Type == actorType {
				owners[p.Index] = append(owners[p.Index], i)
			}
		}
	}
	return owners
}

// settled waits until every partition has one of the members, and the shares
// differ by one at most.
func (r *rig) settled(actorType string, members ...journal.Membership) (owner map[uint32]int) {
	r.Helper()
	n, err := r.Count(r.Context(), actorType)
	if err != nil {
		r.Fatal(err)
	}
	r.eventually("every partition of "+actorType+" has one owner, in equal shares", func() bool {
		owner = make(map[uint32]int)
		shares := make([]int, len(members))
		for p, of := range assigned(actorType, members...) {
			if len(of) != 1 {
				return false
			}
			owner[p] = of[0]
			shares[of[0]]++
		}
		return len(owner) == int(n) && slices.Max(shares)-slices.Min(shares) <= 1
	})
	return owner
}

func loneMember(r *rig) {
	m := r.hosting("a", LogType, OtherType)
	defer r.leave(m)
	r.settled(LogType, m)
	r.settled(OtherType, m)
}

func fairShares(r *rig) {
	members := []journal.Membership{r.hosting("a", LogType)}
	before := r.settled(LogType, members...)
	for _, name := range []string{"b", "c"} {
		_, changed := members[0].Assigned()
		members = append(members, r.hosting(name, LogType))
		now := r.settled(LogType, members...)
		for p, owner := range now {
			if owner != before[p] && owner != len(members)-1 {
				r.Errorf("when %s came, partition %d moved from member %d to %d", name, p, before[p], owner)
			}
		}
		if before = now; name == "b" {
			r.signalled(changed)
		}
	}
	for _, m := range members {
		r.leave(m)
	}
}

// signalled checks that a channel was closed.
func (r *rig) signalled(changed <-chan struct{}) {
	r.Helper()
	select {
	case <-changed:
	case <-time.After(patience):
		r.Error("a change of what is assigned was not told")
	}
}

func leaving(r *rig) {
	a, b, c := r.hosting("a", LogType), r.hosting("b", LogType), r.hosting("c", LogType)
	before := r.settled(LogType, a, b, c)
	_, changed := b.Assigned()
	r.leave(b)
	if all, _ := b.Assigned(); len(all) > 0 {
		r.Errorf("who has left is assigned %v", all)
	}
	r.signalled(changed)
	for p, owner := range r.settled(LogType, a, c) {
		if was := before[p]; was == 0 && owner != 0 || was == 2 && owner != 1 {
			r.Errorf("partition %d moved though its owner stayed", p)
		}
	}
	r.leave(a)
	r.leave(c)
}

func knownMethods(r *rig) {
	a, b := r.hosting("a", LogType), r.hosting("b", OtherType)
	r.settled(LogType, a)
	r.settled(OtherType, b)
	for _, m := range []journal.Membership{a, b} {
		r.eventually("both members are known with their methods", func() bool {
			known := make(map[string][]string)
			for _, other := range m.Members() {
				for t := range other.Methods {
					known[t] = append(known[t], other.Name)
				}
			}
			return slices.Equal(known[LogType], []string{"a"}) && slices.Equal(known[OtherType], []string{"b"})
		})
	}
	r.leave(a)
	r.eventually("who has left is known no longer", func() bool { return len(b.Members()) == 1 })
	r.leave(b)
}
