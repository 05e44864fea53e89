package membership

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/kafka/internal/client"
)

// writer writes this member's beats, one at a time: one that the broker keeps
// waiting is not followed by others.
type writer struct {
	topic    string
	producer sarama.SyncProducer
	trouble  trouble
	poke     chan struct{} // another beat is due before its time
	next     atomic.Int64  // offset after the last that was acknowledged
}

// run writes beats until ctx ends. due makes those that are to be written, and
// says when to ask again.
func (w *writer) run(ctx context.Context, due func() ([]*beat, time.Duration)) {
	for ctx.Err() == nil {
		start := time.Now()
		beats, every := due()
		for _, b := range beats {
			if err := w.write(ctx, b); ctx.Err() == nil {
				w.trouble.note(err)
			}
		}
		t := time.NewTimer(every - time.Since(start))
		select {
		case <-t.C:
		case <-w.poke:
		case <-ctx.Done():
		}
		t.Stop()
	}
}

func (w *writer) write(ctx context.Context, b *beat) error {
	m := &sarama.ProducerMessage{Topic: w.topic, Key: sarama.StringEncoder(b.ID), Value: sarama.ByteEncoder(b.encode())}
	offset, err := client.Within(ctx, func() (int64, error) {
		_, offset, err := w.producer.SendMessage(m)
		return offset, err
	})
	if err == nil {
		w.next.Store(offset + 1)
	}
	return err
}

func (w *writer) hurry() {
	select {
	case w.poke <- struct{}{}:
	default: // it is poked already
	}
}
