package memory

import (
	"context"
	"encoding/json"

	"github.com/backstay-go/backstay/actors/journal"
)

// kept is how many messages of an ordinary topic are kept.
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
			_ = l.Truncate(context.Background(), p, at.Offset+1-kept) // fails only if the Log is closed
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
