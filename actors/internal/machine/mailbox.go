package machine

import (
	"iter"
	"slices"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// mailbox has the entries of one actor, oldest first.
type mailbox struct {
	oldest, newest *Entry
	size           int
}

// all goes through the entries, oldest first.
func (m *mailbox) all() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for e := m.oldest; e != nil; e = e.next {
			if !yield(e) {
				return
			}
		}
	}
}

// enter puts an entry behind all others of its actor.
func (s *State) enter(e *Entry) {
	m := s.resident(e.Target.Actor)
	if e.prev, e.next = m.newest, nil; e.prev == nil {
		m.oldest = e
	} else {
		e.prev.next = e
	}
	m.newest = e
	m.size++
	e.resident = m
	s.entries.add(hashOf(e.ID), e)
}

// leave takes an entry out.
func (s *State) leave(e *Entry) {
	m := e.resident
	if e.prev == nil {
		m.oldest = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		m.newest = e.prev
	} else {
		e.next.prev = e.prev
	}
	m.size--
	s.shed(e.Target.Actor, m)
	s.entries.remove(hashOf(e.ID), e)
	s.gone = append(s.gone, e)
}

// blank is an entry to be filled in.
func (s *State) blank() *Entry {
	last := len(s.blanks) - 1
	if last < 0 {
		return new(Entry)
	}
	e := s.blanks[last]
	s.blanks = s.blanks[:last]
	return e
}

// recycle empties what left by the last record: until this one it could be
// looked at.
func (s *State) recycle() {
	for _, e := range s.gone {
		if *e = (Entry{}); len(s.blanks) < mostSpare {
			s.blanks = append(s.blanks, e)
		}
	}
	s.gone = s.gone[:0]
}

// Queue goes through the entries of an actor, oldest first.
func (s *State) Queue(actor string) iter.Seq[*Entry] {
	var m *mailbox
	if r := s.residents[actor]; r != nil {
		m = &r.mailbox
	} else {
		m = new(mailbox)
	}
	return m.all() // the one return, or no caller could have it inlined
}

// Depth is the number of entries of an actor.
func (s *State) Depth(actor string) int {
	if r := s.residents[actor]; r != nil {
		return r.size
	}
	return 0
}

// Actors are the actors that have entries, in the order of their names.
func (s *State) Actors() []string {
	var all []string
	for actor, r := range s.residents {
		if r.size > 0 {
			all = append(all, actor)
		}
	}
	slices.Sort(all)
	return all
}

// Suspects are the links that a predecessor may have been running: those that
// are the oldest of their actor or descend from it. An owner takes them as of
// its own Takeover, not as of its claim (R31, R32), and counts their next
// attempts by a Begun before they run (H24).
func (s *State) Suspects() []record.Link {
	var links []record.Link
	for _, actor := range s.Actors() {
		oldest := s.residents[actor].oldest
		for e := range s.Queue(actor) {
			if e == oldest || e.descends(oldest.ID) {
				links = append(links, e.Link)
			}
		}
	}
	return links
}

// IssuedChildren are all nested calls that have not been answered. At its own
// Takeover they are those of dead attempts: an owner may send each a Cancel.
func (s *State) IssuedChildren() []Child {
	var all []Child
	for _, actor := range s.Actors() {
		for e := range s.Queue(actor) {
			all = append(all, e.issued...)
		}
	}
	return all
}
