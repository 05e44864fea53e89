package kafka

import (
	"context"
	"sync"

	"github.com/IBM/sarama"
)

// The topics of "Kafka only". All answers go to one client, so to one
// partition, like those of actors.
const (
	requests   = "requests"
	responses  = "responses"
	partitions = 4 // of requests, and of every type of actors
)

// echo answers every request with what it holds.
func echo(ctx context.Context, at cluster, ready func()) error {
	producer, err := newProducer(at.Brokers)
	if err != nil {
		return err
	}
	defer producer.Close()
	stop, err := consume(at.Brokers, requests, partitions, func(m *sarama.ConsumerMessage) {
		producer.Input() <- response(m.Value)
	})
	if err != nil {
		return err
	}
	defer stop()
	closing, err := record(at)
	if err != nil {
		return err
	}
	defer closing()
	ready()
	<-ctx.Done()
	return nil
}

func response(to []byte) *sarama.ProducerMessage {
	return &sarama.ProducerMessage{Topic: responses, Value: sarama.ByteEncoder(to)}
}

// newProducer returns a producer with a client of its own. What cannot be sent
// within the retries is a call without an answer, which its caller reports.
func newProducer(brokers []string) (sarama.AsyncProducer, error) {
	producer, err := sarama.NewAsyncProducer(brokers, settings())
	if err != nil {
		return nil, err
	}
	go func() {
		for range producer.Errors() { //nolint:revive // they have to be taken
		}
	}()
	return producer, nil
}

// consume hands what comes from now on to each, one goroutine a partition.
func consume(brokers []string, topic string, partitions int32, each func(*sarama.ConsumerMessage)) (stop func(), err error) {
	return consumeBy(settings(), brokers, topic, partitions, each)
}

// consumeBy is consume with other settings.
func consumeBy(by *sarama.Config, brokers []string, topic string, partitions int32, each func(*sarama.ConsumerMessage)) (stop func(), err error) {
	consumer, err := sarama.NewConsumer(brokers, by)
	if err != nil {
		return nil, err
	}
	var running sync.WaitGroup
	var open []sarama.PartitionConsumer
	stop = func() {
		for _, p := range open {
			p.AsyncClose()
		}
		running.Wait()
		_ = consumer.Close()
	}
	for i := range partitions {
		p, err := consumer.ConsumePartition(topic, i, sarama.OffsetNewest)
		if err != nil {
			stop()
			return nil, err
		}
		open = append(open, p)
		running.Go(func() {
			for m := range p.Messages() {
				each(m)
			}
		})
		running.Go(func() {
			for range p.Errors() { //nolint:revive // they have to be taken
			}
		})
	}
	return stop, nil
}
