package kafka_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka"
	"github.com/backstay-go/backstay/e2e/brokers"
)

func TestOpenRefusesTopicsThatLoseRecords(t *testing.T) {
	addrs := brokers.StartFake(t)
	c := config(addrs, "app")
	_ = opened(t, c).Close()
	day := "86400000"
	entries := map[string]sarama.IncrementalAlterConfigsEntry{"retention.ms": {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &day}}
	if err := admin(t, addrs).IncrementalAlterConfig(sarama.TopicResource, "app.a", entries, false); err != nil {
		t.Fatal(err)
	}
	c.Types = map[string]uint32{"a": 0}
	_, err := kafka.Open(t.Context(), c)
	if !errors.Is(err, kafka.ErrTopics) || !strings.Contains(err.Error(), `app.a: retention.ms is "86400000", must be "-1"`) {
		t.Error(err)
	}
}

func TestATypeWithoutTopicsHasNoLog(t *testing.T) {
	l := opened(t, config(brokers.StartFake(t), "app"))
	for _, name := range []string{"nothing", "members", "", "a.state", "ä"} {
		if _, err := l.Count(t.Context(), name); !errors.Is(err, journal.ErrNoType) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A stranger's records are data: what they are is for others to say.
func TestStrangersRecordsAreRead(t *testing.T) {
	addrs := brokers.Shared(t) // kfake leaves it to the sender what time it is
	l := opened(t, config(addrs, "strangers"))
	c := sarama.NewConfig()
	c.Producer.Partitioner, c.Producer.Return.Successes = sarama.NewManualPartitioner, true
	p, err := sarama.NewSyncProducer(addrs, c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }() // it is the test's
	for _, m := range []*sarama.ProducerMessage{
		{Topic: "strangers.a", Partition: 1, Value: nil},
		{Topic: "strangers.a", Partition: 1, Key: sarama.StringEncoder("key"), Value: sarama.StringEncoder("stranger"), Timestamp: time.Unix(1, 0)},
	} {
		if _, _, err := p.SendMessage(m); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := put(t, l, "mine"); err != nil {
		t.Fatal(err)
	}
	all := take(t, l, 0, 3)
	if len(all[0].Data) != 0 || string(all[1].Data) != "stranger" || string(all[2].Data) != "mine" || all[1].At < time.Now().Add(-time.Hour).UnixMilli() {
		t.Errorf("%+v", all)
	}
}

func TestATopicThatIsDeletedIsToldAndEndsNothing(t *testing.T) {
	t.Parallel() // it waits for the last try
	addrs := brokers.StartFake(t)
	l := opened(t, config(addrs, "app"))
	if _, err := put(t, l, "x"); err != nil {
		t.Fatal(err)
	}
	take(t, l, 0, 1)
	if err := admin(t, addrs).DeleteTopic("app.a"); err != nil {
		t.Fatal(err)
	}
	if _, err := put(t, l, "y"); err == nil || !strings.Contains(err.Error(), "was it deleted?") || errors.Is(err, journal.ErrNoType) {
		t.Errorf("an append: %v", err)
	}
	h := l.Health()
	if len(h.Problems) == 0 || h.Problems[0].Part != "append" || h.Problems[0].Topic != "app.a" || h.Problems[0].Since.IsZero() {
		t.Errorf("%+v", h)
	}
}

func TestWhoHasNoPermissionIsTold(t *testing.T) {
	addrs := brokers.StartFake(t, kfake.EnableSASL(), kfake.EnableACLs(), kfake.User("PLAIN", "guest", "secret"))
	c := config(addrs, "app")
	c.Sarama = sarama.NewConfig()
	c.Sarama.Producer.RequiredAcks = sarama.WaitForAll
	c.Sarama.Net.SASL.Enable, c.Sarama.Net.SASL.User, c.Sarama.Net.SASL.Password = true, "guest", "secret"
	if err := kafka.Setup(t.Context(), c, "a"); err == nil || !strings.Contains(err.Error(), "permission") {
		t.Errorf("without permission: %v", err)
	}
}

// A permission is withdrawn from a process that works, and granted again.
func TestAPermissionThatIsWithdrawnIsToldAndCallersWaitForIt(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	c := config(cluster.ListenAddrs(), "app")
	if err := kafka.Setup(t.Context(), c, bankAccount.Name()); err != nil {
		t.Fatal(err)
	}
	log, node := startOn(t, c, "bank", hostBank())
	ctx, cancel := context.WithTimeout(node.Context(t.Context()), 2*patience)
	defer cancel()
	to := bankAccount.Ref("a")
	depositAll(ctx, t, to, 1)
	for part, key := range map[string]kmsg.Key{"append": kmsg.Produce, "read": kmsg.Fetch} {
		withdrawn := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Topic: "app.account", Err: kerr.TopicAuthorizationFailed, Count: -1})
		answered := make(chan error, 1)
		go func() {
			_, err := deposit.Call(ctx, to, 1, actors.IdempotencyKey(part))
			answered <- err
		}()
		eventually(t, "Health says what may not be done: "+part, func() bool {
			return slices.ContainsFunc(log.Health().Problems, func(p kafka.Problem) bool {
				return p.Part == part && p.Topic == "app.account" && strings.Contains(p.Err.Error(), "has no permission")
			})
		})
		withdrawn.Remove()
		if err := <-answered; err != nil {
			t.Errorf("%s: %v", part, err)
		}
	}
	if have, err := balance.Call(ctx, to, struct{}{}); err != nil || have != 3 {
		t.Errorf("there are %d, %v", have, err)
	}
	eventually(t, "Health says that it is over", func() bool { return len(log.Health().Problems) == 0 })
}

func TestAWrongPasswordIsTold(t *testing.T) {
	cluster := brokers.Start(t, brokers.WithSASL("guest", "secret"))
	c := config(cluster.SASLAddrs(), "app")
	c.Sarama = sarama.NewConfig()
	c.Sarama.Producer.RequiredAcks = sarama.WaitForAll
	c.Sarama.Net.SASL.Enable, c.Sarama.Net.SASL.User, c.Sarama.Net.SASL.Password = true, "guest", "wrong"
	if err := kafka.Setup(t.Context(), c, "a"); !errors.Is(err, sarama.ErrSASLAuthenticationFailed) || !strings.Contains(err.Error(), "password are wrong") {
		t.Errorf("a wrong password: %v", err)
	}
	c.Sarama.Net.SASL.Password = "secret"
	l := opened(t, c)
	if at, err := put(t, l, "x"); err != nil || at.At == 0 {
		t.Errorf("%+v, %v", at, err)
	}
}

// A reader that is not polled holds back itself and nobody else.
func TestASlowReaderDoesNotHoldUpOthers(t *testing.T) {
	c := config(brokers.StartFake(t), "app")
	c.ReadBytes = 100_000
	l := opened(t, c)
	slow, err := l.Read(a, 0, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	const n, size = 300, 100_000
	data := strings.Repeat("x", size)
	acked := make(chan error, n)
	for range n {
		l.Append(a, []byte(data), func(_ journal.Place, err error) { acked <- err })
	}
	for range n {
		if err := <-acked; err != nil {
			t.Fatal(err)
		}
	}
	take(t, l, 0, n)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for got := 0; got < n; {
		all, err := slow.Poll(1 << 20)
		if err != nil || ctx.Err() != nil {
			t.Fatalf("%d of %d came, %v", got, n, err)
		}
		got += len(all)
		time.Sleep(time.Millisecond)
	}
}
