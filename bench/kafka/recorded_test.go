package kafka

import (
	"sync"

	"github.com/IBM/sarama"
)

// What a call cannot do without that keeps its effect, by hand: a request whose
// effect is on the log before its response is sent. Nothing is in it of actors:
// no state, no order of calls, no owner that may be another one tomorrow.
const (
	recordedRequests = "recorded.requests"
	effects          = "recorded.effects"
)

// record answers each request when a record of the size of a request is
// acknowledged, in the partition that the request was in.
func record(at cluster) (closing func(), err error) {
	conf := settings()
	conf.Producer.Return.Successes = true
	producer, err := sarama.NewAsyncProducer(at.Brokers, conf)
	if err != nil {
		return nil, err
	}
	answers, err := newProducer(at.Brokers)
	if err != nil {
		_ = producer.Close()
		return nil, err
	}
	var acknowledged sync.WaitGroup
	acknowledged.Go(func() {
		for m := range producer.Successes() {
			request := m.Metadata.([]byte)
			answers.Input() <- response(request)
		}
	})
	acknowledged.Go(func() {
		for range producer.Errors() { //nolint:revive // they have to be taken
		}
	})
	stop, err := consume(at.Brokers, recordedRequests, partitions, func(m *sarama.ConsumerMessage) {
		producer.Input() <- &sarama.ProducerMessage{Topic: effects, Partition: m.Partition, Value: sarama.ByteEncoder(m.Value), Metadata: m.Value}
	})
	if err != nil {
		stop = func() {}
	}
	closing = func() {
		stop()
		producer.AsyncClose()
		acknowledged.Wait()
		_ = answers.Close()
	}
	if err != nil {
		closing()
		return nil, err
	}
	return closing, nil
}
