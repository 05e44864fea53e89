package kafka

import (
	"context"
	"fmt"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// Bounds asks the leader of the partition.
func (l *Log) Bounds(ctx context.Context, p journal.Partition) (first, next int64, err error) {
	if err := l.open(ctx, p); err != nil {
		return 0, 0, err
	}
	return l.bounds(ctx, l.config.topic(p.Type), int32(p.Index)) //nolint:gosec // at most 10,000
}

func (l *Log) bounds(ctx context.Context, topic string, partition int32) (first, next int64, err error) {
	b, err := again(ctx, fmt.Sprintf("bounds of %s, partition %d", topic, partition), func() (b span, err error) {
		if b.first, err = l.client.GetOffset(topic, partition, sarama.OffsetOldest); err == nil {
			b.next, err = l.client.GetOffset(topic, partition, sarama.OffsetNewest)
		}
		return b, err
	})
	return b.first, b.next, err
}

type span struct{ first, next int64 }

// Truncate deletes the records below an offset. Brokers give the room back by
// whole files.
func (l *Log) Truncate(ctx context.Context, p journal.Partition, below int64) error {
	first, next, err := l.Bounds(ctx, p)
	if err != nil || below <= first {
		return err
	}
	topic, partition := l.config.topic(p.Type), int32(p.Index) //nolint:gosec // at most 10,000
	err = l.desk.truncate(ctx, topic, partition, min(below, next))
	l.vitals.note(vital{part: "truncate", topic: topic, partition: partition}, err)
	return err
}
