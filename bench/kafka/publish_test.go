package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors"
)

// The topics that actors publish to.
const (
	atLeastOnce = "news"
	exactlyOnce = "ledger"
)

// notice is what is published: a number, that somebody waits for.
type notice struct {
	Topic  string
	Number uint64
}

func (n notice) message() actors.Message {
	value := make([]byte, payload)
	binary.BigEndian.PutUint64(value, n.Number)
	return actors.Message{Topic: n.Topic, Value: value}
}

// reading calls actors that publish, and reads what is committed of that.
type reading struct {
	*client
	last    atomic.Uint64
	waiting sync.Map // by number: chan struct{}
}

func newReading(b *testing.B, at cluster, c *client) *reading {
	b.Helper()
	r := &reading{client: c}
	by := settings()
	by.Consumer.IsolationLevel = sarama.ReadCommitted
	for _, topic := range []string{atLeastOnce, exactlyOnce} {
		b.Cleanup(must(consumeBy(by, at.Brokers, topic, 1, r.deliver)))
	}
	return r
}

func (r *reading) deliver(m *sarama.ConsumerMessage) {
	if read, ok := r.waiting.LoadAndDelete(binary.BigEndian.Uint64(m.Value)); ok {
		close(read.(chan struct{}))
	}
}

func (r *reading) told(ctx context.Context, caller int) error {
	return r.tell(ctx, caller, atLeastOnce)
}

func (r *reading) toldExactly(ctx context.Context, caller int) error {
	return r.tell(ctx, caller, exactlyOnce)
}

// tell has an actor publish, and waits until that was read.
func (r *reading) tell(ctx context.Context, caller int, topic string) error {
	n, read := notice{topic, r.last.Add(1)}, make(chan struct{})
	r.waiting.Store(n.Number, read)
	if _, err := announce.Call(r.node.Context(ctx), counter.Ref(name(caller)), n); err != nil {
		return err
	}
	select {
	case <-read:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Minute):
		return errors.New("the message was not read within a minute")
	}
}
