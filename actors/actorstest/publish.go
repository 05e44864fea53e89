package actorstest

import (
	"maps"
	"slices"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/journal"
)

// Publish adds a message to an ordinary topic, as another application does, for
// types that ingest it. Every topic has two partitions; messages with one key are
// in one of them, in the order in which they were published. It returns when the
// topic has it. Faults do not strike it; they do strike those who read it, and
// [Sim.Settle] waits until all is taken in.
func (s *Sim) Publish(m actors.Message) {
	entry := journal.Message{Topic: m.Topic, Key: m.Key, Value: m.Value}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		entry.Headers = append(entry.Headers, journal.Header{Name: name, Value: []byte(m.Headers[name])})
	}
	acked := make(chan error, 1)
	s.shop.Publish(entry, func(_ journal.Place, err error) { acked <- err })
	if err := <-acked; err != nil {
		s.Errorf("publishing to %q: %v", m.Topic, err)
	}
}
