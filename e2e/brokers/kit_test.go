package brokers_test

import (
	"os"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/e2e/brokers"
)

func TestMain(m *testing.M) { os.Exit(brokers.Run(m)) }

// config waits for all replicas, and for an election.
func config() *sarama.Config {
	c := sarama.NewConfig()
	c.Version = sarama.V4_0_0_0
	c.Producer.RequiredAcks = sarama.WaitForAll
	c.Producer.Return.Successes = true
	c.Producer.Retry.Max, c.Producer.Retry.Backoff = 400, 50*time.Millisecond
	c.Metadata.Retry.Max, c.Metadata.Retry.Backoff = 400, 50*time.Millisecond
	return c
}

// create makes a topic of one partition.
func create(t *testing.T, addrs []string, topic string, replicas int16) {
	t.Helper()
	admin, err := sarama.NewClusterAdmin(addrs, config())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	if err := admin.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: 1, ReplicationFactor: replicas}, false); err != nil {
		t.Fatal(err)
	}
}

// produce appends a message with a client of its own, and returns its offset.
func produce(t *testing.T, addrs []string, topic, text string) int64 {
	t.Helper()
	producer, err := sarama.NewSyncProducer(addrs, config())
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	_, offset, err := producer.SendMessage(&sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder(text)})
	if err != nil {
		t.Fatal(err)
	}
	return offset
}

// first reads the first message of a topic.
func first(t *testing.T, addrs []string, topic string) string {
	t.Helper()
	consumer, err := sarama.NewConsumer(addrs, config())
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	partition, err := consumer.ConsumePartition(topic, 0, sarama.OffsetOldest)
	if err != nil {
		t.Fatal(err)
	}
	defer partition.Close()
	select {
	case m := <-partition.Messages():
		return string(m.Value)
	case <-time.After(30 * time.Second):
		t.Fatalf("%s has no message", topic)
		return ""
	}
}

// silent says whether a broker answers nothing within d.
func silent(addr string, d time.Duration) bool {
	c := config()
	c.Net.DialTimeout, c.Net.ReadTimeout = d, d
	b := sarama.NewBroker(addr)
	if err := b.Open(c); err != nil {
		return true
	}
	defer b.Close()
	_, err := b.ApiVersions(&sarama.ApiVersionsRequest{})
	return err != nil
}
