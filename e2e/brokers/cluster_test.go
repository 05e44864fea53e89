package brokers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/e2e/brokers"
)

func TestABrokerIsPausedResumedKilledStoppedAndRestartedOnItsData(t *testing.T) {
	cluster := brokers.Start(t)
	addrs := cluster.Addrs()
	create(t, addrs, "kept", 1)
	produce(t, addrs, "kept", "one")

	cluster.Pause(0)
	if !silent(addrs[0], 200*time.Millisecond) {
		t.Error("it answers while it is paused")
	}
	cluster.Resume(0)
	if silent(addrs[0], 10*time.Second) {
		t.Error("it does not answer after the pause")
	}

	cluster.Kill(0)
	cluster.Kill(0)
	if !silent(addrs[0], time.Second) {
		t.Error("it answers after it was killed")
	}
	cluster.Restart(0)
	if got := produce(t, addrs, "kept", "two"); got != 1 {
		t.Errorf("the second message is at offset %d", got)
	}

	cluster.Stop(0)
	cluster.Restart(0)
	if got := first(t, addrs, "kept"); got != "one" {
		t.Errorf("read %q", got)
	}
	if got := strings.Count(cluster.Logs(), "Kafka Server started"); got != 3 {
		t.Errorf("it said %d times that it started:\n%s", got, cluster.Logs())
	}
	cluster.Pause(0) // the end of the test kills it all the same
}

func TestThreeBrokersGoOnWithoutOneAndTakeItBack(t *testing.T) {
	began := time.Now()
	cluster := brokers.Start(t, brokers.WithBrokers(3), brokers.WithSession(3*time.Second))
	t.Logf("three brokers are up after %v", time.Since(began))
	addrs := cluster.Addrs()
	create(t, addrs, "copied", 3)
	produce(t, addrs, "copied", "one")

	victim := leader(t, addrs)
	cluster.Kill(victim)
	killed := time.Now()
	if got := produce(t, addrs, "copied", "two"); got != 1 {
		t.Errorf("the second message is at offset %d", got)
	}
	t.Logf("a message is taken %v after the kill of the leader", time.Since(killed))
	cluster.Restart(victim)
	for deadline := time.Now().Add(30 * time.Second); inSync(t, addrs) != 3; {
		if time.Now().After(deadline) {
			t.Fatalf("%d replicas are in sync:\n%s", inSync(t, addrs), cluster.Logs())
		}
		time.Sleep(100 * time.Millisecond)
	}
	if got := first(t, addrs, "copied"); got != "one" {
		t.Errorf("read %q", got)
	}
}

// leader is the index of the broker that leads the topic "copied".
func leader(t *testing.T, addrs []string) int {
	t.Helper()
	return int(copied(t, addrs).Leader) - 1
}

func inSync(t *testing.T, addrs []string) int {
	t.Helper()
	return len(copied(t, addrs).Isr)
}

func copied(t *testing.T, addrs []string) *sarama.PartitionMetadata {
	t.Helper()
	admin, err := sarama.NewClusterAdmin(addrs, config())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	topics, err := admin.DescribeTopics([]string{"copied"})
	if err != nil {
		t.Fatal(err)
	}
	return topics[0].Partitions[0]
}

func TestOptionsReachTheBroker(t *testing.T) {
	cluster := brokers.Start(t, brokers.WithSASL("app", "app-secret"),
		brokers.WithRebalanceDelay(70*time.Millisecond), brokers.WithSetting("message.max.bytes", "2000000"))
	t.Run("the listener with users wants the right password", func(t *testing.T) { users(t, cluster) })
	t.Run("settings are changed, or stock", func(t *testing.T) { settings(t, cluster) })
}

func users(t *testing.T, cluster *brokers.Cluster) {
	t.Helper()
	for password, want := range map[string]bool{"app-secret": true, "wrong": false} {
		c := config()
		c.Metadata.Retry.Max = 0
		c.Net.SASL.Enable, c.Net.SASL.User, c.Net.SASL.Password = true, "app", password
		client, err := sarama.NewClient(cluster.SASLAddrs(), c)
		if got := err == nil; got != want {
			t.Errorf("password %q: %v", password, err)
		}
		if err == nil {
			client.Close()
		}
	}
	if silent(cluster.Addrs()[0], 10*time.Second) {
		t.Error("the listener without users is gone")
	}
}

func settings(t *testing.T, cluster *brokers.Cluster) {
	t.Helper()
	admin, err := sarama.NewClusterAdmin(cluster.Addrs(), config())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	have, err := admin.DescribeConfigs([]*sarama.ConfigResource{{Type: sarama.BrokerResource, Name: "1"}}, sarama.DescribeConfigsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"group.initial.rebalance.delay.ms": "70", "message.max.bytes": "2000000",
		"group.min.session.timeout.ms": "6000", // stock
	}
	for _, entry := range have[0].Configs {
		if value, ok := want[entry.Name]; ok && value != entry.Value {
			t.Errorf("%s=%s, want %s", entry.Name, entry.Value, value)
		}
		delete(want, entry.Name)
	}
	if len(want) > 0 {
		t.Errorf("it does not know of %v", want)
	}
}
