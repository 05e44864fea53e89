package kafka

import (
	"fmt"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// Append adds an entry. The brokers are asked again for about 20 s, longer than
// an election takes, before done gets an error. The first ones of a type wait
// until its topics were looked at, which holds up no other type's.
func (l *Log) Append(p journal.Partition, data []byte, done func(journal.Place, error)) {
	a := &appending{to: p, data: data, done: done}
	if n, kept, err := l.postpone(a); !kept {
		l.append(a, n, err)
	}
}

// append sends an append to one of n partitions, or ends it with err.
func (l *Log) append(a *appending, n uint32, err error) {
	if err == nil {
		err = within(a.to, n)
	}
	if err != nil {
		a.done(journal.Place{}, err)
		return
	}
	l.appender.send(&sending{done: a.done, entry: true, ProducerMessage: sarama.ProducerMessage{
		Topic: l.config.topic(a.to.Type), Partition: int32(a.to.Index), Value: value(a.data), //nolint:gosec // at most 10,000
	}})
}

// postpone keeps an append until its type was looked at, if it was not or others
// wait for that still; else it returns the number of partitions.
func (l *Log) postpone(a *appending) (n uint32, kept bool, err error) {
	l.mu.RLock() // so that Close waits for what is begun here
	defer l.mu.RUnlock()
	if l.closed {
		return 0, false, fmt.Errorf("kafka: %w", journal.ErrClosed)
	}
	n, known := l.counts[a.to.Type]
	kept, first, err := l.pending.add(a, !known, l.config.QueueBytes)
	if first {
		l.work.Go(func() { l.admit(a.to.Type) })
	}
	return n, kept, err
}

// admit looks at a type, and sends what has waited for that. What comes
// meanwhile waits behind it.
func (l *Log) admit(actorType string) {
	n, err := l.Count(l.ctx, actorType)
	if l.ctx.Err() != nil {
		err = fmt.Errorf("kafka: %w", journal.ErrClosed)
	}
	for all := l.pending.take(actorType); all != nil; all = l.pending.take(actorType) {
		for _, a := range all {
			l.append(a, n, err)
		}
	}
}

// value is never nil: a record without value would be a deletion.
func value(data []byte) sarama.ByteEncoder {
	if data == nil {
		return sarama.ByteEncoder{}
	}
	return data
}
