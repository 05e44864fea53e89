package memory

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/backstay-go/backstay/actors/journal"
)

// kept is how many messages of an ordinary topic are kept, beside those that who
// reads it has not been through.
const kept = 1000

// topicOf is where the messages of an ordinary topic are: a partition of a
// type that no actors can have.
func topicOf(name string) journal.Partition { return journal.Partition{Type: "topic/" + name} }

// Publish adds a message, like Append.
func (l *Log) Publish(m journal.Message, done func(journal.Place, error)) {
	data, err := json.Marshal(m)
	if err != nil {
		done(journal.Place{}, err)
		return
	}
	p := topicOf(m.Topic)
	part, err := l.at(p)
	if err != nil {
		done(journal.Place{}, err)
		return
	}
	l.add(p, part, data, func(at journal.Place, err error) {
		done(at, err)
		if err == nil && at.Offset%kept == kept-1 { // now and then, so that it costs nothing a message
			_ = l.Truncate(context.Background(), p, l.sources.needed(m.Topic, at.Offset+1-kept)) // fails only if the Log is closed
		}
	})
}

// Messages returns the newest messages of an ordinary topic, at most 1,000,
// oldest first: the dead letters of an embedded application, for example.
func (l *Log) Messages(topic string) []journal.Message {
	part, err := l.at(topicOf(topic))
	if err != nil {
		return nil
	}
	entries := part.all()
	entries = entries[max(0, len(entries)-kept):]
	messages := make([]journal.Message, len(entries))
	for i, e := range entries {
		_ = json.Unmarshal(e.Data, &messages[i]) // Publish wrote it
	}
	return messages
}

// sources are the readers of ordinary topics, and the offsets that each has not
// been through.
type sources struct {
	mu   sync.Mutex
	held map[*sourceReader]int64
}

func (s *sources) hold(r *sourceReader, from int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[r] = from
}

func (s *sources) release(r *sourceReader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, r)
}

// needed is the lowest offset of a topic that must be kept, at most below.
func (s *sources) needed(topic string, below int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r, from := range s.held {
		if r.topic == topic {
			below = min(below, from)
		}
	}
	return below
}
