package membership

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// simulation is a group in virtual time: members that beat, a log that stamps
// what it takes with a clock of its own, and readers that read a little later.
// It takes 5 ms at a time.
type simulation struct {
	*rand.Rand
	now     int64
	log     []stamped
	step    int64 // of the log's clock, away from now
	stalled int64 // until when the broker answers nothing
	members []*node
}

type stamped struct {
	*beat
	at      int64
	arrived int64
}

type node struct {
	id       string
	d        *detector
	next     int64 // when its next beat is due
	pending  []*beat
	read     int
	readBack int64
	dead     int64 // since when; 0: it lives
	paused   int64 // until when
	resumed  int64
}

func newSimulation(seed uint64, members int) *simulation {
	s := &simulation{Rand: rand.New(rand.NewPCG(seed, 1)), now: 1_000_000}
	for i := range members {
		id := fmt.Sprint("n", i)
		s.members = append(s.members, &node{id: id, d: newDetector(id, 600*ms), next: s.now + s.Int64N(200)})
	}
	return s
}

// running is whether a member does anything.
func (n *node) running(now int64) bool { return n.dead == 0 && now >= n.paused }

// tick is 5 ms; wrong is told of who would be removed.
func (s *simulation) tick(condemned func(by *node, ids []string)) {
	s.now += 5
	for _, i := range s.Perm(len(s.members)) {
		n := s.members[i]
		if !n.running(s.now) {
			continue
		}
		if s.now >= n.next && len(n.pending) == 0 { // one at a time
			n.next = s.now + 200 + s.Int64N(15)
			n.pending = append(n.pending, &beat{Version: 1, ID: n.id, Every: 200, Sent: s.now})
		}
		if s.now >= s.stalled {
			for _, b := range n.pending {
				s.log = append(s.log, stamped{b, s.now + s.step, s.now})
			}
			n.pending = nil
		}
	}
	for _, n := range s.members {
		if n.running(s.now) && s.now >= s.stalled {
			s.look(n, condemned)
		}
	}
}

func (s *simulation) look(n *node, condemned func(by *node, ids []string)) {
	for ; n.read < len(s.log) && s.log[n.read].arrived < s.now-s.Int64N(20); n.read++ {
		b := s.log[n.read]
		if n.d.hear(b.beat, b.at); b.ID == n.id {
			n.readBack = b.Sent
		}
	}
	var group []string
	for _, o := range s.members {
		group = append(group, o.id)
	}
	if ids := n.d.condemned(group, n.readBack > 0 && s.now-n.readBack <= 600); len(ids) > 0 {
		condemned(n, ids)
	}
}

func (s *simulation) member(id string) *node {
	return s.members[slices.IndexFunc(s.members, func(n *node) bool { return n.id == id })]
}

// blameless checks that nobody is removed who runs, or has not been away for as
// long as a suspicion takes.
func (s *simulation) blameless(t *testing.T, seed uint64) func(by *node, ids []string) {
	return func(by *node, ids []string) {
		for _, id := range ids {
			n := s.member(id)
			away := n.dead != 0 || s.now < n.paused || s.now-n.resumed < 400
			if !away {
				t.Fatalf("seed %d: at %d %s would remove %s, which runs", seed, s.now-1_000_000, by.id, id)
			}
		}
	}
}

func TestNobodyIsRemovedWhoRunsWhateverTheBrokerDoes(t *testing.T) {
	for seed := range uint64(16) {
		s := newSimulation(seed, 2+int(seed%7))
		check := s.blameless(t, seed)
		for range 6_000 { // half a minute
			switch s.IntN(1500) {
			case 0: // a collection of the broker's heap, a partition without a leader
				s.stalled = s.now + s.Int64N(8000)
			case 1: // the log's clock is set
				s.step += s.Int64N(20_000) - 10_000
			case 2:
				n := s.members[s.IntN(len(s.members))]
				n.paused = s.now + s.Int64N(3000)
				n.resumed = n.paused
			}
			s.tick(check)
		}
	}
}

func TestWhoIsKilledIsFoundInTime(t *testing.T) {
	var slowest int64
	for seed := range uint64(60) {
		s := newSimulation(seed, 2+int(seed%7))
		for range 400 + s.IntN(200) {
			s.tick(func(*node, []string) { t.Fatal("somebody was removed before") })
		}
		victim := s.members[s.IntN(len(s.members))]
		victim.dead = s.now
		var found int64
		for found == 0 && s.now < victim.dead+5000 {
			s.tick(func(_ *node, ids []string) {
				if len(ids) != 1 || ids[0] != victim.id {
					t.Fatalf("seed %d: %q are removed, not %s", seed, ids, victim.id)
				}
				found = s.now - victim.dead
			})
		}
		if found == 0 {
			t.Fatalf("seed %d: a death was not noticed", seed)
		}
		slowest = max(slowest, found)
	}
	if slowest > 900 { // three beats, one that just was, and some jitter
		t.Errorf("the slowest took %d ms", slowest)
	}
}

func TestWhoWasStoppedRemovesNobodyWhenItGoesOn(t *testing.T) {
	for seed := range uint64(30) {
		s := newSimulation(seed, 3)
		for range 400 {
			s.tick(func(*node, []string) { t.Fatal("somebody was removed before") })
		}
		sleeper := s.members[0]
		sleeper.paused = s.now + 700 + s.Int64N(5000)
		for range 1600 {
			s.tick(func(by *node, ids []string) {
				if by == sleeper || len(ids) != 1 || ids[0] != sleeper.id {
					t.Fatalf("seed %d: %s would remove %q", seed, by.id, ids)
				}
			})
		}
	}
}

// Acceptance case A84.
func TestA84_WhoIsLeftAloneRemovesTheOthers(t *testing.T) {
	t.Run("two of three die at once", func(t *testing.T) {
		s := newSimulation(1, 3)
		for range 400 {
			s.tick(func(*node, []string) { t.Fatal("somebody was removed before") })
		}
		s.members[0].dead, s.members[1].dead = s.now, s.now
		var dead []string
		for range 240 {
			s.tick(func(_ *node, ids []string) { dead = ids })
		}
		if !slices.Equal(dead, []string{"n0", "n1"}) {
			t.Errorf("removed %q", dead)
		}
	})
	t.Run("a fourth starts when three are dead", func(t *testing.T) {
		s := newSimulation(1, 3)
		for range 400 {
			s.tick(func(*node, []string) { t.Fatal("somebody was removed before") })
		}
		for _, n := range s.members {
			n.dead = s.now
		}
		for range 1000 {
			s.tick(nil)
		}
		s.members = append(s.members, &node{id: "n3", d: newDetector("n3", 600*ms), next: s.now})
		var dead []string
		for range 240 {
			s.tick(func(_ *node, ids []string) { dead = ids })
		}
		if !slices.Equal(dead, []string{"n0", "n1", "n2"}) {
			t.Errorf("removed %q", dead)
		}
	})
}
