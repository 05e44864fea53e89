package client

import (
	"time"

	"github.com/IBM/sarama"
)

// Retries of the producer: together longer than a broker is missed for and its
// partitions are without a leader. A few quick ones lose the record.
const (
	retries = 400
	soon    = retries / 10 // where somebody else tries again

	// Backoff is the time between two tries, Outlast that of all.
	Backoff = 50 * time.Millisecond
	Outlast = retries * Backoff
)

// Appender is for requests that append to logs. It repeats nothing: who makes
// the requests does.
func Appender(hardened *sarama.Config) *sarama.Config {
	c := *hardened
	c.Producer.RequiredAcks = sarama.WaitForAll
	c.Producer.Timeout = replication
	c.Net.ReadTimeout, c.Net.WriteTimeout = 2*replication, 2*replication
	c.Metadata.Retry.Max = 0
	return &c
}

// replication is how long a broker waits for the copies of a record.
const replication = 5 * time.Second

// Producer is for sarama's own producers: as soon as possible, in order, without
// duplicates as far as the broker can, and through an election.
func Producer(hardened *sarama.Config) *sarama.Config {
	c := *hardened
	p := &c.Producer
	p.RequiredAcks = sarama.WaitForAll
	p.Idempotent = true // which allows one open request a broker
	c.Net.MaxOpenRequests = 1
	p.Partitioner = sarama.NewManualPartitioner
	p.Return.Successes, p.Return.Errors = true, true
	p.Flush.Bytes, p.Flush.Messages, p.Flush.Frequency, p.Flush.MaxMessages = 0, 0, 0, 0
	p.Retry.Max, p.Retry.Backoff, p.Retry.BackoffFunc = retries, Backoff, nil
	p.Retry.MaxBufferLength, p.Retry.MaxBufferBytes = 0, 0 // our own queue is in front
	p.Timeout = replication
	c.Net.ReadTimeout = 2 * replication
	c.Metadata.Retry.Max, c.Metadata.Retry.Backoff, c.Metadata.Retry.BackoffFunc = retries, Backoff, nil
	c.Metadata.Timeout = Outlast // or a search for the leader would fail what still has retries
	return &c
}

// Transactional is for messages in transactions of an id. One whose process has
// died is open for at most half a minute, and holds up those who read what is
// committed. It gives up soon: the whole transaction is tried again.
func Transactional(hardened *sarama.Config, id string) *sarama.Config {
	c := Producer(hardened)
	c.Producer.Retry.Max, c.Metadata.Retry.Max = soon, soon
	t := &c.Producer.Transaction
	t.ID, t.Timeout = id, 30*time.Second
	t.Retry.Max, t.Retry.Backoff, t.Retry.BackoffFunc = retries, Backoff, nil
	return c
}

// Consumer is for plain readers of partitions.
func Consumer(hardened *sarama.Config) *sarama.Config {
	c := *hardened
	c.Consumer.Fetch.Min = 1
	c.Consumer.Fetch.Max = 0 // a record that was accepted can be read
	c.Consumer.MaxWaitTime = 100 * time.Millisecond
	c.Consumer.MaxProcessingTime = 10 * time.Millisecond
	c.Consumer.Retry.Backoff, c.Consumer.Retry.BackoffFunc, c.Consumer.Retry.Max = 20*time.Millisecond, nil, 0
	c.Consumer.Return.Errors = true
	c.Consumer.IsolationLevel = sarama.ReadUncommitted // nothing here is in a transaction
	c.Net.ReadTimeout = min(c.Net.ReadTimeout, 10*time.Second)
	return &c
}

// Group is for a membership in a consumer group. The instance id and the
// strategy are the membership's own.
func Group(hardened *sarama.Config) *sarama.Config {
	c := Consumer(hardened)
	c.Net.ReadTimeout = hardened.Net.ReadTimeout // joining waits for the others
	c.Consumer.Group.Heartbeat.Interval = 200 * time.Millisecond
	c.Consumer.Group.Rebalance.Retry.Backoff = 50 * time.Millisecond
	c.Consumer.Group.ResetInvalidOffsets = false
	c.Consumer.Offsets.AutoCommit.Enable = false
	return c
}

// Admin is for topics, settings and members.
func Admin(hardened *sarama.Config) *sarama.Config {
	c := *hardened
	c.Metadata.Full = true
	return &c
}
