package simtest

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/backstay-go/backstay/actors/journal"
)

// Ordinary topics are partitions like those of actors, beside them, and nobody
// judges what is in them.

const (
	topicPrefix = "topic/"
	// TopicPartitions is the number of every ordinary topic's.
	TopicPartitions = 2
)

func isTopic(p journal.Partition) bool { return strings.HasPrefix(p.Type, topicPrefix) }

func topicOf(s journal.Source) journal.Partition {
	return journal.Partition{Type: topicPrefix + s.Topic, Index: s.Partition}
}

func sourceOf(p journal.Partition) journal.Source {
	return journal.Source{Topic: strings.TrimPrefix(p.Type, topicPrefix), Partition: p.Index}
}

// SourceOf is where a message with a key is.
func SourceOf(topic, key string) journal.Source {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // a hash does not fail
	return journal.Source{Topic: topic, Partition: h.Sum32() % TopicPartitions}
}

// supply adds a message to its topic. mu is held.
func (c *Cluster) supply(m journal.Message) journal.Place {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // a message always encodes
	}
	return c.put(topicOf(SourceOf(m.Topic, m.Key)), data)
}

// Messages are all that a source ever had.
func (c *Cluster) Messages(s journal.Source) (all []journal.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, data := range c.partition(topicOf(s)).all {
		var m journal.Message
		if err := json.Unmarshal(data, &m); err != nil {
			panic(err) // supply has written it
		}
		all = append(all, m)
	}
	return all
}

var _ journal.Sources = (*View)(nil)

// SourceCount is the same for every topic.
func (v *View) SourceCount(ctx context.Context, _ string) (uint32, error) {
	return TopicPartitions, v.travel(ctx)
}

// SourceBounds are all messages that there ever were.
func (v *View) SourceBounds(ctx context.Context, s journal.Source) (first, next int64, err error) {
	return v.Bounds(ctx, topicOf(s))
}

// ReadSource opens a reader, which lags as those of logs do.
func (v *View) ReadSource(s journal.Source, from int64, wake func()) (journal.SourceReader, error) {
	c := v.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case v.closed:
		return nil, journal.ErrClosed
	case s.Partition >= TopicPartitions:
		return nil, journal.ErrNoType
	}
	if c.judge != nil {
		c.judge.want(s)
	}
	return &sourceReader{v.open(&reader{view: v, p: topicOf(s), next: from, wake: wake, at: "source"})}, nil
}

// sourceReader reads a topic.
type sourceReader struct{ *reader }

// Poll returns what is visible.
func (r *sourceReader) Poll(maxBytes int) ([]journal.Sourced, error) {
	entries, err := r.reader.Poll(maxBytes)
	all := make([]journal.Sourced, len(entries))
	for i, e := range entries {
		all[i].Place = e.Place
		if err := json.Unmarshal(e.Data, &all[i].Message); err != nil {
			return nil, fmt.Errorf("simtest: %v: %w", sourceOf(r.p), err)
		}
	}
	return all, err
}
