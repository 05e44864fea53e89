package kafka_test

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/kafka"
	"github.com/backstay-go/backstay/e2e/brokers"
)

type tally struct{}

var (
	tallyType = actors.NewType[tally]("tally")
	mark      = actors.Declare[int, struct{}](tallyType, "mark")
	marks     = actors.DeclareQuery[struct{}, map[int]int](tallyType, "marks")
	marked    = actors.NewMap[int, int](tallyType, "marked")
)

// hostTally counts how often each number of a topic was told.
func hostTally(topic string) actors.Hosting {
	return actors.Host(tallyType, actors.Settings{},
		actors.Handle(mark, func(ctx context.Context, self actors.Self[tally], n int) (none struct{}, err error) {
			have, _, err := marked.Get(ctx, self, n)
			if err != nil {
				return none, err
			}
			return none, marked.Set(self, n, have+1)
		}),
		actors.HandleShared(marks, func(ctx context.Context, view actors.View[tally], _ struct{}) (map[int]int, error) {
			all := make(map[int]int)
			for pair, err := range marked.All(ctx, view) {
				if err != nil {
					return nil, err
				}
				all[pair.Key] = pair.Value
			}
			return all, nil
		}),
	).Ingest(topic, func(m actors.Incoming) (actors.Telling, error) {
		n, err := strconv.Atoi(string(m.Value))
		return mark.Telling(tallyType.Ref(m.Key), n), err
	})
}

// produce sends numbers to a topic, as any producer does.
func produce(t *testing.T, addrs []string, topic string, from, to, tallies int) {
	t.Helper()
	c := sarama.NewConfig()
	c.Producer.Return.Successes = true
	p, err := sarama.NewSyncProducer(addrs, c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }() // it is the test's
	const batch = 250
	for from < to {
		var all []*sarama.ProducerMessage
		for ; from < to && len(all) < batch; from++ {
			all = append(all, &sarama.ProducerMessage{
				Topic: topic, Key: sarama.StringEncoder(fmt.Sprint("tally ", from%tallies)), Value: sarama.StringEncoder(strconv.Itoa(from)),
			})
		}
		if err := p.SendMessages(all); err != nil {
			t.Fatal(err)
		}
	}
}

// awaitTold waits until n numbers were told, and reports those that were not told
// once.
func awaitTold(ctx context.Context, t *testing.T, n, tallies int) {
	t.Helper()
	told := make(map[int]int)
	for limit := time.Now().Add(2 * time.Minute); len(told) < n && time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		for i := range tallies {
			all, err := marks.Call(ctx, tallyType.Ref(fmt.Sprint("tally ", i)), struct{}{})
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(told, all)
		}
	}
	wrong := 0
	for number := range n {
		if told[number] != 1 {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("of %d numbers %d were not told once; %d were told", n, wrong, len(told))
	}
}

// Of 10,000 messages each is told once, while their owners come and go.
func TestEachMessageOfATopicIsToldOnceWhileOwnersMove(t *testing.T) {
	const messages, tallies = 10_000, 20
	addrs := brokers.StartFake(t)
	c := config(addrs, "tallies")
	if err := kafka.Setup(t.Context(), c, tallyType.Name()); err != nil {
		t.Fatal(err)
	}
	ordinary(t, addrs, "numbers") // with two partitions, the type has four
	host := hostTally("numbers")
	start(t, c, "stays", host)
	ctx := start(t, c, "client").Context(t.Context())
	const parts = 5
	for part := range parts {
		moves := start(t, c, fmt.Sprint("moves ", part), host)
		produce(t, addrs, "numbers", part*messages/parts, (part+1)*messages/parts, tallies)
		stop(t, moves)
	}
	began := time.Now()
	awaitTold(ctx, t, messages, tallies)
	t.Logf("all were told %v after the last was produced", time.Since(began).Round(time.Millisecond))
}

// Of transactions only those that were committed are told, on real Kafka.
func TestMessagesOfAbortedTransactionsAreNotTold(t *testing.T) {
	addrs := brokers.Shared(t)
	c := config(addrs, "aborted")
	if err := kafka.Setup(t.Context(), c, tallyType.Name()); err != nil {
		t.Fatal(err)
	}
	ordinary(t, addrs, "aborted-numbers")
	start(t, c, "node", hostTally("aborted-numbers"))
	ctx := start(t, c, "client").Context(t.Context())
	config := sarama.NewConfig()
	config.Version = sarama.V3_0_0_0
	config.Producer.Return.Successes, config.Producer.Idempotent, config.Producer.RequiredAcks = true, true, sarama.WaitForAll
	config.Net.MaxOpenRequests = 1
	config.Producer.Transaction.ID = "numbers"
	p, err := sarama.NewSyncProducer(addrs, config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }() // it is the test's
	for n := range 20 {
		number := n / 2 // each is aborted first, under a number that must not be seen
		if n%2 == 0 {
			number = 1000 + n
		}
		if err := p.BeginTxn(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.SendMessage(&sarama.ProducerMessage{Topic: "aborted-numbers", Key: sarama.StringEncoder("tally 0"), Value: sarama.StringEncoder(strconv.Itoa(number))}); err != nil {
			t.Fatal(err)
		}
		end := p.CommitTxn
		if n%2 == 0 {
			end = p.AbortTxn
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	awaitTold(ctx, t, 10, 1)
	all, err := marks.Call(ctx, tallyType.Ref("tally 0"), struct{}{})
	if err != nil || len(all) != 10 {
		t.Errorf("told %v, %v", all, err)
	}
}
