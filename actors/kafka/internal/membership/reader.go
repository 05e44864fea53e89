package membership

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/kafka/internal/client"
)

// reader reads the beats of all members.
type reader struct {
	topic  string
	client sarama.Client
	source sarama.Consumer
	// written is the offset after the last own beat that was acknowledged.
	written func() int64
	heard   func(b *beat, at int64)
	trouble trouble
	next    int64 // what is below was heard
}

const (
	// History is how many beats are read that are there already: those of ten
	// seconds in a large group, of a minute in a small one.
	History = 1000
	// stuckAfter is how long own beats may be acknowledged and not be read.
	stuckAfter = 2 * time.Second
	// reopenAfter is the wait before the topic is opened again.
	reopenAfter = 100 * time.Millisecond
)

// open finds the place to begin at. Offsets that were given back, since the topic
// was made anew or has lost its end, were not heard yet.
func (r *reader) open() (sarama.PartitionConsumer, error) {
	oldest, err := r.client.GetOffset(r.topic, 0, sarama.OffsetOldest)
	if err != nil {
		return nil, fmt.Errorf("membership: oldest beat in %s: %w", r.topic, err)
	}
	newest, err := r.client.GetOffset(r.topic, 0, sarama.OffsetNewest)
	if err != nil {
		return nil, fmt.Errorf("membership: newest beat in %s: %w", r.topic, err)
	}
	from, err := r.source.ConsumePartition(r.topic, 0, max(oldest, newest-History))
	if err != nil {
		return nil, fmt.Errorf("membership: reading %s: %w", r.topic, err)
	}
	r.next = min(r.next, newest)
	return from, nil
}

// run reads until ctx ends, from what was opened first.
func (r *reader) run(ctx context.Context, from sarama.PartitionConsumer) {
	for {
		r.drain(ctx, from)
		for from = nil; from == nil; {
			select {
			case <-time.After(reopenAfter):
			case <-ctx.Done():
				return
			}
			var err error
			if from, err = client.Within(ctx, r.open); err != nil && ctx.Err() == nil {
				r.trouble.note(err)
			}
		}
	}
}

// errStuck: the broker accepts beats, and does not give them back.
var errStuck = errors.New("membership: own beats are written and not read")

// drain takes beats until there can be no more of this consumer.
func (r *reader) drain(ctx context.Context, from sarama.PartitionConsumer) {
	defer from.AsyncClose()
	look := time.NewTicker(stuckAfter)
	defer look.Stop()
	before := int64(-1)
	for {
		select {
		case <-ctx.Done():
			return
		case err, ok := <-from.Errors():
			if !ok {
				return
			}
			r.trouble.note(err)
		case m, ok := <-from.Messages():
			if !ok {
				return
			}
			if m.Offset >= r.next {
				r.next = m.Offset + 1
				r.trouble.note(nil)
				r.take(m)
			}
		case <-look.C:
			if r.next == before && r.written() > r.next {
				r.trouble.note(errStuck)
				return
			}
			before = r.next
		}
	}
}

// take hands a beat on. Whatever else is in the topic is passed over.
func (r *reader) take(m *sarama.ConsumerMessage) {
	if b, err := decodeBeat(m.Value); err == nil {
		r.heard(b, m.Timestamp.UnixMilli())
	}
}
