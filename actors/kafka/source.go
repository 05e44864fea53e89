package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

var _ journal.Sources = (*Log)(nil)

// SourceCount asks for the number of partitions of an ordinary topic; its error
// matches [journal.ErrNoType] if there is no such topic.
func (l *Log) SourceCount(ctx context.Context, topic string) (uint32, error) {
	topic = l.ordinary(topic)
	all, err := again(ctx, "partitions of "+topic, func() ([]int32, error) {
		if err := l.client.RefreshMetadata(topic); err != nil { // it may have more than it had
			return nil, err
		}
		return l.client.Partitions(topic)
	})
	if errors.Is(err, sarama.ErrUnknownTopicOrPartition) {
		err = fmt.Errorf("%w: %w", journal.ErrNoType, err)
	}
	l.noteIntake(ctx, topic, noPartition, err)
	return uint32(len(all)), err //nolint:gosec // a count
}

// SourceBounds asks the leader of the partition.
func (l *Log) SourceBounds(ctx context.Context, s journal.Source) (first, next int64, err error) {
	topic, partition := l.ordinary(s.Topic), int32(s.Partition) //nolint:gosec // it was counted
	first, next, err = l.bounds(ctx, topic, partition)
	l.noteIntake(ctx, topic, partition, err)
	return first, next, err
}

// noteIntake notes for Health how a look at a topic that is taken in has ended,
// unless who looked has gone meanwhile.
func (l *Log) noteIntake(ctx context.Context, topic string, partition int32, err error) {
	if ctx.Err() == nil {
		l.vitals.note(vital{part: "ingest", topic: topic, partition: partition}, err)
	}
}

// ReadSource opens a reader of what is committed: messages of transactions that
// were aborted are left out, those of open ones are waited for. Its Poll fails
// only with [journal.ErrOutOfRange] and [journal.ErrClosed].
func (l *Log) ReadSource(s journal.Source, from int64, wake func()) (journal.SourceReader, error) {
	r := &inflow[journal.Sourced]{fetcher: l.fetcher, bound: l.config.ReadBytes, wake: wake, keep: sourcedOf(s.Topic), size: sourcedSize}
	r.feed = &feed{topic: l.ordinary(s.Topic), partition: int32(s.Partition), next: from, sink: r, committed: true} //nolint:gosec // it was counted
	l.fetcher.start(r.feed)
	return r, nil
}

// ordinary is the name that an ordinary topic has on the brokers.
func (l *Log) ordinary(topic string) string {
	if topic == deadName {
		return l.config.topic(deadName)
	}
	return topic
}

func sourcedOf(topic string) func(m *message) journal.Sourced {
	return func(m *message) journal.Sourced {
		s := journal.Sourced{
			Place:   journal.Place{Offset: m.offset, At: m.at},
			Message: journal.Message{Topic: topic, Key: string(m.key), Value: bytes.Clone(m.value)},
		}
		for _, h := range m.headers {
			s.Headers = append(s.Headers, journal.Header{Name: string(h.Key), Value: bytes.Clone(h.Value)})
		}
		return s
	}
}

func sourcedSize(s *journal.Sourced) int {
	size := len(s.Key) + len(s.Value)
	for _, h := range s.Headers {
		size += len(h.Name) + len(h.Value) + itemBytes
	}
	return size
}
