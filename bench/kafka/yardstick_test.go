package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"
)

// yardstick is the client of "Kafka only".
type yardstick struct {
	producer sarama.AsyncProducer
	last     atomic.Uint64
	waiting  sync.Map // by number: chan struct{}
}

// payload is about what a request of an actor weighs.
const payload = 150

// newYardstick makes the topics, starts the other process and the client.
func newYardstick(b *testing.B, at cluster) *yardstick {
	b.Helper()
	createTopics(b, at)
	spawn(b, "echo", at)
	y := &yardstick{producer: must(newProducer(at.Brokers))}
	b.Cleanup(func() { _ = y.producer.Close() })
	b.Cleanup(must(consume(at.Brokers, responses, 1, y.deliver)))
	return y
}

func createTopics(b *testing.B, at cluster) {
	b.Helper()
	admin := must(sarama.NewClusterAdmin(at.Brokers, settings()))
	defer admin.Close()
	inSync := fmt.Sprint(at.Replicas/2 + 1)
	for name, n := range map[string]int32{requests: partitions, responses: 1, recordedRequests: partitions, effects: partitions, atLeastOnce: 1, exactlyOnce: 1} {
		detail := &sarama.TopicDetail{
			NumPartitions: n, ReplicationFactor: at.Replicas,
			ConfigEntries: map[string]*string{"min.insync.replicas": &inSync},
		}
		if err := admin.CreateTopic(name, detail, false); err != nil {
			b.Fatal(err)
		}
	}
}

// deliver wakes whoever waits for the answer.
func (y *yardstick) deliver(m *sarama.ConsumerMessage) {
	if answered, ok := y.waiting.LoadAndDelete(binary.BigEndian.Uint64(m.Value)); ok {
		close(answered.(chan struct{}))
	}
}

// call sends a request and waits for its response.
func (y *yardstick) call(ctx context.Context, caller int) error { return y.ask(ctx, requests, caller) }

// recorded is call, with the effect on record before the response.
func (y *yardstick) recorded(ctx context.Context, caller int) error {
	return y.ask(ctx, recordedRequests, caller)
}

func (y *yardstick) ask(ctx context.Context, topic string, caller int) error {
	n, answered := y.last.Add(1), make(chan struct{})
	y.waiting.Store(n, answered)
	value := make([]byte, payload)
	binary.BigEndian.PutUint64(value, n)
	y.producer.Input() <- &sarama.ProducerMessage{
		Topic: topic, Partition: int32(caller % partitions), Value: sarama.ByteEncoder(value),
	}
	select {
	case <-answered:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Minute):
		return errors.New("no response within a minute")
	}
}
