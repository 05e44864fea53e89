package main

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// partitions is how many each type has, and how many processes host them.
const (
	partitions = 4
	hosts      = 3
)

var types = []string{"manager", "order", "schedule", "voyage", "depot", "pulse"}

// scene is what was heard of all processes of a chapter.
type scene struct {
	mu     sync.Mutex
	claims map[string]map[*process]time.Time // by partition: who owns it since when, as they say
	calls  map[string][]call
	orders []call
	events []line // other than calls
	faults []string
}

// call is one that was answered.
type call struct{ begin, end time.Time }

func (c call) took() time.Duration { return c.end.Sub(c.begin) }

func newScene() *scene {
	return &scene{claims: make(map[string]map[*process]time.Time), calls: make(map[string][]call)}
}

// ids has one actor's id for each partition.
func ids() map[string]int {
	at := kgo.StickyKeyPartitioner(nil).ForTopic("") // what Kafka's clients agree on
	all := make(map[string]int)
	for i := 0; len(all) < partitions; i++ {
		id := string(rune('a' + i))
		p := at.Partition(&kgo.Record{Key: []byte(id)}, partitions)
		if !slices.Contains(slices.Collect(maps.Values(all)), p) {
			all[id] = p
		}
	}
	return all
}

var idOf = ids()

// hear takes in what a process says.
func (s *scene) hear(l line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch l.What {
	case "felt":
		p := partition(l.Type, idOf[l.ID])
		s.calls[p] = append(s.calls[p], call{l.Time.Add(-l.Took), l.Time})
	case "order":
		s.orders = append(s.orders, call{l.Time.Add(-l.Took), l.Time})
	case "fault":
		s.faults = append(s.faults, l.Error)
	case "partition owned":
		if s.claims[l.Key] == nil {
			s.claims[l.Key] = make(map[*process]time.Time)
		}
		s.claims[l.Key][l.from] = l.Time
		s.events = append(s.events, l)
	case "partition lost": // also one that was taken over long before, and hears of it now
		delete(s.claims[l.Key], l.from)
		s.events = append(s.events, l)
	default:
		s.events = append(s.events, l)
	}
}

// forget drops what was before a time, but for the last call of each.
func (s *scene) forget(before time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := func(c call) bool { return c.end.Before(before) }
	for p, all := range s.calls {
		if len(all) > 1 {
			s.calls[p] = append(slices.DeleteFunc(all[:len(all)-1], old), all[len(all)-1])
		}
	}
	s.orders = slices.DeleteFunc(s.orders, old)
	s.events = slices.DeleteFunc(s.events, func(l line) bool { return l.Time.Before(before) })
}

// heard is a copy of what can be measured.
func (s *scene) heard() *scene {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &scene{
		calls: make(map[string][]call), orders: slices.Clone(s.orders),
		events: slices.Clone(s.events), faults: slices.Clone(s.faults),
	}
	for p, all := range s.calls {
		c.calls[p] = slices.Clone(all)
	}
	return c
}

// owner is who has claimed a partition last and not lost it since; nil for
// nobody. mu is held.
func (s *scene) owner(p string) (by *process, since time.Time) {
	for each, at := range s.claims[p] {
		if at.After(since) {
			by, since = each, at
		}
	}
	return by, since
}

// owned are the partitions of processes.
func (s *scene) owned(by ...*process) (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range everything() {
		if o, _ := s.owner(p); o != nil && slices.Contains(by, o) {
			all = append(all, p)
		}
	}
	return all
}

// slow is a call that is longer than any of normal days.
const slow = 500 * time.Millisecond

// unsettled says why the system has not settled, empty if it has.
func (s *scene) unsettled(now time.Time, living []*process) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	has := make(map[*process]int)
	for _, p := range everything() {
		o, since := s.owner(p)
		if has[o]++; !slices.Contains(living, o) {
			return p + " is nobody's"
		}
		if now.Sub(since) < time.Second {
			return p + " has just found an owner"
		}
		if why := calm(s.calls[p], now); why != "" {
			return p + why
		}
	}
	for _, p := range living {
		if has[p] == 0 {
			return p.name + " owns nothing"
		}
	}
	return ""
}

// calm says why a partition does not answer as on normal days.
func calm(calls []call, now time.Time) string {
	if len(calls) == 0 || now.Sub(calls[len(calls)-1].end) > time.Second {
		return " does not answer"
	}
	for _, c := range calls {
		if c.end.After(now.Add(-time.Second)) && c.took() > slow {
			return " is slow"
		}
	}
	return ""
}

// answered reports whether partitions have answered a call that was made after
// a time.
func (s *scene) answered(all []string, after time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range all {
		if !slices.ContainsFunc(s.calls[p], func(c call) bool { return c.begin.After(after) }) {
			return false
		}
	}
	return true
}

// find returns the first event of a kind after a time.
func (s *scene) find(after time.Time, match func(line) bool) (line, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.events, func(l line) bool { return !l.Time.Before(after) && match(l) })
	if i < 0 {
		return line{}, false
	}
	return s.events[i], true
}
