package kafka

import (
	"time"

	"github.com/IBM/sarama"
)

// settings are those that make a call over Kafka fast and safe; the Log of
// actors uses the same. Every role has a client of its own: a producer that
// shares the client of a consumer waits for its long polls.
func settings() *sarama.Config {
	c := sarama.NewConfig()
	c.Version = sarama.V4_0_0_0
	c.Net.MaxOpenRequests = 1
	c.Producer.Idempotent = true
	c.Producer.RequiredAcks = sarama.WaitForAll
	c.Producer.Retry.Max, c.Producer.Retry.Backoff = 400, 50*time.Millisecond
	c.Producer.Partitioner = sarama.NewManualPartitioner
	c.Producer.Return.Successes = false
	c.Consumer.Fetch.Min = 1
	c.Consumer.MaxWaitTime = 100 * time.Millisecond
	c.Consumer.MaxProcessingTime = 10 * time.Millisecond
	c.Consumer.Retry.Backoff = 20 * time.Millisecond
	c.Consumer.Return.Errors = true
	return c
}
