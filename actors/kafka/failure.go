package kafka

import (
	"errors"
	"fmt"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// ErrQueueFull matches the errors of appends that were not taken: the brokers
// are slower than what is sent to them, or away.
var ErrQueueFull = errors.New("kafka: too much waits to be sent")

// hints say what to do about errors that somebody outside must mend.
var hints = []struct {
	err  error
	hint string
}{
	{sarama.ErrTopicAuthorizationFailed, "the user has no permission for this topic"},
	{sarama.ErrGroupAuthorizationFailed, "the user has no permission for the consumer group"},
	{sarama.ErrClusterAuthorizationFailed, "the user lacks a permission on the cluster; producers need IdempotentWrite before Kafka 2.8, Setup needs Create"},
	{sarama.ErrTransactionalIDAuthorizationFailed, "to publish exactly once takes Describe and Write on every TransactionalId that begins with <app>.egress."},
	{sarama.ErrSASLAuthenticationFailed, "user or password are wrong"},
	{sarama.ErrKafkaStorageError, "a broker's disk has failed or is full"},
	{sarama.ErrNotEnoughReplicas, "fewer copies are in sync than min.insync.replicas asks for"},
	{sarama.ErrNotEnoughReplicasAfterAppend, "fewer copies are in sync than min.insync.replicas asks for"},
	{sarama.ErrUnknownTopicOrPartition, "there is no such topic or partition; was it deleted?"},
	{sarama.ErrOutOfBrokers, "no broker can be reached"},
}

// explain says what was done when err came, and what it may need.
func explain(what string, err error) error {
	err = paused(err)
	for _, h := range hints {
		if errors.Is(err, h.err) {
			return fmt.Errorf("kafka: %s: %w (%s)", what, err, h.hint)
		}
	}
	return fmt.Errorf("kafka: %s: %w", what, err)
}

// refused is the error of an append, by what the broker or the client said.
// Only what surely has not landed may match journal's ErrTooLarge; a topic that
// is gone is no ErrNoType, since an earlier try of the client may have landed.
func refused(what string, err error) error {
	switch {
	case errors.Is(err, sarama.ErrMessageSizeTooLarge), errors.Is(err, sarama.ErrInvalidMessageSize):
		return fmt.Errorf("%w: %s: %w", journal.ErrTooLarge, what, err)
	case errors.Is(err, sarama.ErrShuttingDown), errors.Is(err, sarama.ErrClosedClient):
		return fmt.Errorf("%w: %s: %w", journal.ErrClosed, what, err)
	default:
		return explain(what, err)
	}
}
