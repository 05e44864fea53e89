package actors

import (
	"maps"
	"slices"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// Message is one of an ordinary topic. Value must not be changed once it is
// handed over.
//
// One that is published has these headers beside its own:
//
//	backstay-id      names the message: the same in all copies, and in every
//	                 attempt of the step; unless Headers has another
//	backstay-source  the partition of actors that it comes from, "account/3"
//	backstay-number  counts the messages of that source to the topic, from 1,
//	                 without gaps
//
// A consumer that must do things once drops what has an id, or a source and a
// number, that it has seen. Ids follow from the request's idempotency key, so a
// key that is used again later, see [IdempotencyKey], brings them again. The next number may come before the last one where a
// broker failed in between, so it is not enough to remember the highest. A log may
// do that for it: see ExactlyOnce in the configuration of package kafka.
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
