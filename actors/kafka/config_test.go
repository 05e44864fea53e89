package kafka_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/kafka"
)

func TestTheLeastConfigurationIsValid(t *testing.T) {
	if err := (kafka.Config{App: "bank", Brokers: []string{"localhost:9092"}}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestAllFaultsOfAConfigurationAreToldAtOnce(t *testing.T) {
	c := kafka.Config{
		App: "no dots.", Brokers: []string{""}, Types: map[string]uint32{"members": 0, "a": 1 << 20, "b.c": 1},
		Partitions: 1 << 20, Replication: -1, MinInSync: 4, ReplyPartitions: 1 << 20, ReplyRetention: time.Millisecond,
		DeadRetention: -time.Hour, QueueBytes: -1, ReadBytes: -1, SuspectAfter: time.Millisecond, Session: time.Millisecond,
		Sarama: sarama.NewConfig(),
	}
	err := c.Validate()
	for _, path := range []string{
		"app", "brokers", "types.members", "types.a", "types.b.c", "partitions", "replication", "min_in_sync", "reply_partitions",
		"reply_retention", "dead_retention", "queue_bytes", "read_bytes", "suspect_after", "session", "sarama.producer.required_acks",
	} {
		if !strings.Contains("\n"+err.Error(), "\n"+path+": ") {
			t.Errorf("%s is not told:\n%v", path, err)
		}
	}
	if _, is := errors.AsType[*backstay.FieldError](err); !is {
		t.Errorf("%T is no FieldError", err)
	}
	if _, err := kafka.Open(t.Context(), c); err == nil || !strings.HasPrefix(err.Error(), "kafka: ") {
		t.Errorf("Open: %v", err)
	}
	if err := kafka.Setup(t.Context(), c, "x y"); err == nil || !strings.Contains(err.Error(), "types.x y") {
		t.Errorf("Setup: %v", err)
	}
}

func TestOpenGivesUpWithItsContext(t *testing.T) {
	listener := silent(t)
	began := time.Now()
	ctx, cancel := contextOf(t, 50*time.Millisecond)
	defer cancel()
	if _, err := kafka.Open(ctx, kafka.Config{App: "bank", Brokers: []string{listener}}); err == nil || time.Since(began) > 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

func TestBrokersThatAreNotThereAreAnError(t *testing.T) {
	s := sarama.NewConfig()
	s.Producer.RequiredAcks = sarama.WaitForAll
	s.Metadata.Retry.Max = 0
	_, err := kafka.Open(t.Context(), kafka.Config{App: "bank", Brokers: []string{"127.0.0.1:1"}, Sarama: s})
	if !errors.Is(err, sarama.ErrOutOfBrokers) || !strings.Contains(err.Error(), "127.0.0.1:1") || !strings.Contains(err.Error(), "no broker can be reached") {
		t.Error(err)
	}
}
