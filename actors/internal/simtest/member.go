package simtest

import (
	"context"
	"slices"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/journal"
)

// seat is a process's place among the members, as the process sees it: what it
// believes to be assigned can be long out of date.
type seat struct {
	view   *View
	member journal.Member

	// Under cluster.mu.
	inner   journal.Membership  // nil: it is out
	out     chan struct{}       // closed when inner is given up
	deaf    bool                // it does not learn of changes
	told    []journal.Partition // what there is to hear: while it is deaf, what there was
	heard   []journal.Partition // of that, when it asked last
	changed chan struct{}       // closed when it learns of something
	left    bool
}

// Join takes the process in.
func (v *View) Join(ctx context.Context, m journal.Member) (journal.Membership, error) {
	if err := v.travel(ctx); err != nil {
		return nil, err
	}
	inner, err := v.cluster.inner.Join(ctx, m)
	if err != nil {
		return nil, err
	}
	v.cluster.mu.Lock()
	defer v.cluster.mu.Unlock()
	s := &seat{view: v, member: m, changed: make(chan struct{})}
	s.sit(inner)
	v.seats = append(v.seats, s)
	if v.dead { // it died on the way here, and nobody has vacated this one
		time.AfterFunc(v.between(50*time.Millisecond, 2*time.Second), s.vacate)
	}
	return s, nil
}

// sit takes a place among the members. mu is held.
func (s *seat) sit(inner journal.Membership) {
	s.inner, s.out = inner, make(chan struct{})
	_, changed := inner.Assigned()
	go s.follow(inner, changed, s.out)
}

// follow passes on what changes, for as long as the place is kept.
func (s *seat) follow(inner journal.Membership, changed, out <-chan struct{}) {
	for {
		select {
		case <-changed:
		case <-out:
			return
		}
		s.view.cluster.mu.Lock()
		_, changed = inner.Assigned() // before the process asks
		if !s.deaf {
			s.renew()
		}
		s.view.cluster.mu.Unlock()
	}
}

// rise gives the place up, and returns what was held. mu is held.
func (s *seat) rise() journal.Membership {
	inner := s.inner
	if s.inner = nil; inner != nil {
		close(s.out)
	}
	return inner
}

// Assigned is what the process believes.
func (s *seat) Assigned() ([]journal.Partition, <-chan struct{}) {
	c := s.view.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	all := s.believed()
	for _, p := range all {
		if !slices.Contains(s.heard, p) {
			c.judge.granted(s.member.Name, p)
		}
	}
	s.heard = all
	return all, s.changed
}

// believed are the partitions that the process may learn of. mu is held.
func (s *seat) believed() []journal.Partition {
	switch {
	case s.deaf || s.view.dead:
	case s.inner == nil:
		s.told = nil
	default:
		s.told, _ = s.inner.Assigned()
	}
	return s.told
}

// Confirmed asks the members: who is deaf hears no answer.
func (s *seat) Confirmed(p journal.Partition, _ backstay.Instant) (ok bool, changed <-chan struct{}) {
	c := s.view.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	ok = slices.Contains(s.believed(), p) && (c.trusts || !s.deaf)
	if ok {
		c.judge.granted(s.member.Name, p)
	}
	return ok, s.changed
}

// Members are those that are in.
func (s *seat) Members() []journal.Member {
	c := s.view.cluster
	c.mu.Lock()
	inner := s.inner
	c.mu.Unlock()
	if inner == nil {
		return []journal.Member{s.member}
	}
	return inner.Members()
}

// Leave gives the seat up.
func (s *seat) Leave(ctx context.Context) error {
	if s.view.Dead() {
		return nil
	}
	if err := s.view.travel(ctx); err != nil {
		return err
	}
	s.vacate()
	return nil
}

// vacate takes the process out of the membership for good.
func (s *seat) vacate() {
	c := s.view.cluster
	c.mu.Lock()
	inner := s.rise()
	s.left, s.deaf = true, false
	s.renew()
	c.mu.Unlock()
	if inner != nil {
		_ = inner.Leave(context.Background()) // in memory, it does not fail
	}
}

// renew says that something is new. mu is held.
func (s *seat) renew() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// evict gives the process's partitions to others; it is told after a while, and is
// in again a little later, or, if it may come back, also before it is told. mu is
// held.
func (v *View) evict(late time.Duration, back bool) {
	for _, s := range v.seats {
		if s.inner == nil || s.deaf {
			continue
		}
		s.told, _ = s.inner.Assigned()
		s.deaf = true
		_ = s.rise().Leave(context.Background()) // in memory, it does not fail
		again := late + late/2
		if back && v.rng.IntN(2) == 0 { // before it has learned that it was out
			again = late / 2
		}
		time.AfterFunc(again, s.comeBack)
		time.AfterFunc(late, func() {
			v.cluster.mu.Lock()
			defer v.cluster.mu.Unlock()
			s.hear()
		})
	}
}

// comeBack joins again.
func (s *seat) comeBack() {
	c := s.view.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.left || s.inner != nil || s.view.dead {
		return
	}
	inner, err := c.inner.Join(context.Background(), s.member)
	if err != nil {
		return // in memory, it does not fail
	}
	s.sit(inner)
	if !s.deaf {
		s.renew()
	}
}

// hear ends deafness. mu is held.
func (s *seat) hear() {
	if s.deaf {
		s.deaf = false
		s.renew()
	}
}

// tell has the process learn what is so, and be in. mu is held.
func (v *View) tell() {
	for _, s := range v.seats {
		s.hear()
		time.AfterFunc(0, s.comeBack)
	}
}
