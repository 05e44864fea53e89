package kafka

import (
	"context"
	"fmt"
	"iter"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/journal"
)

// DeadLetters goes through the dead letters of the application: partition by
// partition of the topic App.dead, the oldest first, up to what is there when it
// comes to the partition. Copies of a letter are gone through as well
// ([actors.DeadLetter.CopyKey]). Messages that are no dead letters are errors,
// and so is what keeps it from reading; after the first kind it goes on, if it
// is let. It holds one fetch in memory, of about 4 MiB. actors.Node.Requeue
// makes the request of one again.
func (l *Log) DeadLetters(ctx context.Context) iter.Seq2[actors.DeadLetter, error] {
	return func(yield func(actors.DeadLetter, error) bool) {
		count, err := l.SourceCount(ctx, deadName)
		if err != nil {
			yield(actors.DeadLetter{}, err)
			return
		}
		for p := range count {
			if !l.deadLetters(ctx, journal.Source{Topic: deadName, Partition: p}, yield) {
				return
			}
		}
	}
}

// deadLetters goes through one partition, and reports whether to go on.
func (l *Log) deadLetters(ctx context.Context, s journal.Source, yield func(actors.DeadLetter, error) bool) bool {
	topic, partition := l.ordinary(s.Topic), int32(s.Partition) //nolint:gosec // it was counted
	next, end, err := l.SourceBounds(ctx, s)
	for err == nil && next < end {
		var b block
		b, err = again(ctx, fmt.Sprintf("reading %s, partition %d", topic, partition), func() (block, error) {
			return fetchOne(l.client, topic, partition, next, fetchBytes, true)
		})
		if err != nil {
			break
		}
		for i := range b.messages {
			if b.messages[i].offset >= end {
				return true
			}
			if !yield(actors.ReadDeadLetter(sourcedOf(topic)(&b.messages[i]).Message)) {
				return false
			}
		}
		if b.next == next { // the rest is not committed
			return true
		}
		next = b.next
	}
	if err != nil {
		yield(actors.DeadLetter{}, err)
		return false
	}
	return true
}
