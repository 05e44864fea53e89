package kafka

import (
	"context"
	"fmt"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// shelf is where the records of snapshots are: one partition of a topic of
// states.
type shelf interface {
	bounds(ctx context.Context) (first, next int64, err error)
	// fetch returns records from an offset on: those of about so many bytes, or
	// of one batch.
	fetch(ctx context.Context, from int64, bytes int32) (block, error)
	// put adds a record; without a value it is a deletion.
	put(key string, value sarama.Encoder, done func(journal.Place, error))
	// largest is the size in bytes of the largest record.
	largest() int
}

// brokerShelf is a shelf on brokers.
type brokerShelf struct {
	log       *Log
	topic     string
	partition int32
}

func (b *brokerShelf) bounds(ctx context.Context) (first, next int64, err error) {
	return b.log.bounds(ctx, b.topic, b.partition)
}

func (b *brokerShelf) fetch(ctx context.Context, from int64, bytes int32) (block, error) {
	return again(ctx, fmt.Sprintf("reading %s, partition %d", b.topic, b.partition), func() (block, error) {
		all, err := fetchOne(b.log.client, b.topic, b.partition, from, bytes, false)
		if err == nil && all.next == from {
			err = errShort
		}
		return all, err
	})
}

func (b *brokerShelf) put(key string, value sarama.Encoder, done func(journal.Place, error)) {
	b.log.publisher.send(&sending{done: done, ProducerMessage: sarama.ProducerMessage{
		Topic: b.topic, Partition: b.partition, Key: sarama.StringEncoder(key), Value: value,
	}})
}

func (b *brokerShelf) largest() int { return b.log.publisher.largest }
