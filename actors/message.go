package actors

import (
	"maps"
	"slices"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// Message is one for an ordinary topic. Value must not be changed once it is
// handed over.
type Message struct {
	Topic, Key string
	Value      []byte
	Headers    map[string]string
}

func (m Message) posted() record.Posted {
	p := record.Posted{Topic: m.Topic, Key: m.Key, Value: m.Value}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		p.Headers = append(p.Headers, record.Attribute{Name: name, Value: []byte(m.Headers[name])})
	}
	return p
}
