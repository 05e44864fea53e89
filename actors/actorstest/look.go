package actorstest

import (
	"cmp"

	"github.com/backstay-go/backstay/actors"
)

// DeadLetters are the dead letters that were written until now, in the order of
// the topic, without copies.
func (s *Sim) DeadLetters() []actors.DeadLetter {
	s.mu.Lock()
	topic := cmp.Or(s.config.DeadLetters, actors.DefaultDeadLetters)
	s.mu.Unlock()
	var all []actors.DeadLetter
	seen := make(map[string]bool)
	for _, m := range s.cluster.Letters(topic) {
		d, err := actors.ReadDeadLetter(m)
		if err != nil {
			s.Errorf("a dead letter that cannot be read: %v", err)
			continue
		}
		if !seen[d.CopyKey()] {
			seen[d.CopyKey()] = true
			all = append(all, d)
		}
	}
	return all
}

// Inspect tells how the processes are that run now, by name. Those that die
// meanwhile are told of as far as that goes.
func (s *Sim) Inspect() []actors.Inspection {
	var all []actors.Inspection
	for _, n := range s.fleet.Nodes() {
		if node, ok := n.(*actors.Node); ok {
			all = append(all, node.Inspect(s.Context()))
		}
	}
	return all
}
