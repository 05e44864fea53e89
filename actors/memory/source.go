package memory

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/backstay-go/backstay/actors/journal"
)

var _ journal.Sources = (*Log)(nil)

// SourceCount is 1: a topic has one partition.
func (l *Log) SourceCount(context.Context, string) (uint32, error) { return 1, nil }

// SourceBounds are those of what is kept of a topic.
func (l *Log) SourceBounds(_ context.Context, s journal.Source) (first, next int64, err error) {
	part, err := l.source(s)
	if err != nil {
		return 0, 0, err
	}
	first, next = part.bounds()
	return first, next, nil
}

// ReadSource opens a reader. While one is open nothing of the topic is dropped
// that it has not been through.
func (l *Log) ReadSource(s journal.Source, from int64, wake func()) (journal.SourceReader, error) {
	part, err := l.source(s)
	if err != nil {
		return nil, err
	}
	r := &sourceReader{log: l, topic: s.Topic, reader: part.read(from, wake)}
	l.sources.mu.Lock()
	defer l.sources.mu.Unlock()
	if l.sources.held == nil {
		l.sources.held = make(map[*sourceReader]int64)
	}
	l.sources.held[r] = from
	return r, nil
}

func (l *Log) source(s journal.Source) (*partition, error) {
	if s.Partition != 0 {
		return nil, fmt.Errorf("memory: topic %q has no partition %d: %w", s.Topic, s.Partition, journal.ErrNoType)
	}
	return l.at(topicOf(s.Topic))
}

// sourceReader reads a topic.
type sourceReader struct {
	log   *Log
	topic string
	*reader
}

// Poll returns what is there.
func (r *sourceReader) Poll(maxBytes int) ([]journal.Sourced, error) {
	r.log.sources.hold(r, r.next)
	entries, err := r.reader.Poll(maxBytes)
	all := make([]journal.Sourced, len(entries))
	for i, e := range entries {
		all[i].Place = e.Place
		if err := json.Unmarshal(e.Data, &all[i].Message); err != nil { // Publish wrote it
			return nil, fmt.Errorf("memory: topic %q, offset %d: %w", r.topic, e.Offset, err)
		}
	}
	return all, err
}

// Close ends it.
func (r *sourceReader) Close() {
	r.reader.Close()
	r.log.sources.release(r)
}
