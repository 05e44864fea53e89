package kafka

import (
	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// Append adds an entry. The brokers are asked again for about 20 s, longer than
// an election takes, before done gets an error.
func (l *Log) Append(p journal.Partition, data []byte, done func(journal.Place, error)) {
	if err := l.open(p); err != nil {
		done(journal.Place{}, err)
		return
	}
	l.appender.send(&sending{done: done, ProducerMessage: sarama.ProducerMessage{
		Topic: l.config.topic(p.Type), Partition: int32(p.Index), Value: value(data), //nolint:gosec // at most 10,000
	}})
}

// value is never nil: a record without value would be a deletion.
func value(data []byte) sarama.ByteEncoder {
	if data == nil {
		return sarama.ByteEncoder{}
	}
	return data
}
