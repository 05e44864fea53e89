package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka"
	"github.com/backstay-go/backstay/e2e/brokers"
)

// published publishes numbers of a partition as its owner does, until all are
// told to be there: after a failure from the first that is not.
func published(ctx context.Context, t *testing.T, l *kafka.Log, from, to uint64) {
	t.Helper()
	for from <= to {
		ends := make(chan error, to-from+1)
		for n := from; n <= to; n++ {
			l.Publish(message(n), func(_ journal.Place, err error) { ends <- err })
		}
		failed := false
		for range cap(ends) {
			select {
			case err := <-ends:
				if failed = failed || err != nil; !failed {
					from++
				}
			case <-ctx.Done():
				t.Fatalf("number %d is not published: %+v", from, l.Health())
			}
		}
	}
}

func message(n uint64) journal.Message {
	text := strconv.FormatUint(n, 10)
	return journal.Message{Topic: "ledger", Key: strconv.FormatUint(n%5, 10), Value: []byte(text), Source: a, Number: n}
}

// committed reads what is committed of the topic: at least n messages, and what
// comes within a while after them.
func committed(ctx context.Context, t *testing.T, l *kafka.Log, topic string, n int) (values []string) {
	t.Helper()
	count, err := l.SourceCount(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	var readers []journal.SourceReader
	for p := range count {
		r, err := l.ReadSource(journal.Source{Topic: topic, Partition: p}, 0, func() {})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		readers = append(readers, r)
	}
	const afterwards = 500 * time.Millisecond
	for quiet := time.Now().Add(patience); time.Now().Before(quiet); time.Sleep(10 * time.Millisecond) {
		for _, r := range readers {
			all, err := r.Poll(1 << 20)
			if err != nil {
				t.Fatal(err)
			}
			for i := range all {
				values = append(values, string(all[i].Value))
			}
			if len(all) > 0 && len(values) >= n || n == 0 && quiet.After(time.Now().Add(afterwards)) {
				quiet = time.Now().Add(afterwards)
			}
		}
	}
	return values
}

// eachOnce reports which of the numbers 1 to n are not there once.
func eachOnce(t *testing.T, values []string, n int) {
	t.Helper()
	counts := make(map[string]int)
	for _, v := range values {
		counts[v]++
	}
	for i := range n {
		if got := counts[strconv.Itoa(i+1)]; got != 1 {
			t.Errorf("number %d is there %d times", i+1, got)
		}
	}
	if len(counts) != n {
		t.Errorf("%d different ones of %d", len(counts), n)
	}
}

// A process dies between the messages of a transaction and its commit. The next
// owner publishes what it does not know to be delivered.
func TestAnOwnerThatDiesBeforeItsCommitLosesAndDoublesNothing(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	var cut atomic.Int32 // the epoch of the producer whose commits do not arrive, and one more
	const endTransaction = 26
	cluster.ControlKey(endTransaction, func(r kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		epoch := int32(r.(*kmsg.EndTxnRequest).ProducerEpoch) + 1
		if cut.CompareAndSwap(0, epoch) || cut.Load() == epoch {
			return nil, errors.New("cut"), true
		}
		return nil, nil, false
	})
	c := config(cluster.ListenAddrs(), "egress")
	c.ExactlyOnce = []string{"ledger"}
	ordinary(t, cluster.ListenAddrs(), "ledger")
	first, second := opened(t, c), opened(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	ended := make(chan error, 5)
	for n := range uint64(5) {
		first.Publish(message(n+1), func(_ journal.Place, err error) { ended <- err })
	}
	for cut.Load() == 0 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if got := committed(ctx, t, second, "ledger", 0); len(got) > 0 {
		t.Errorf("%q can be read before they are committed", got)
	}
	published(ctx, t, second, 1, 8)
	eachOnce(t, committed(ctx, t, second, "ledger", 8), 8)
	if len(ended) > 0 && <-ended == nil {
		t.Error("the first one was told that its messages are there")
	}
}

// What was committed is not published again by who does not know of it, and who
// was replaced goes on when it is the owner again.
func TestWhoTakesOverPublishesNothingTwice(t *testing.T) {
	run := func(t *testing.T, addrs []string, topic string) {
		c := config(addrs, "handover")
		c.ExactlyOnce = []string{topic}
		ordinary(t, addrs, topic)
		first, second := opened(t, c), opened(t, c)
		ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
		defer cancel()
		published(ctx, t, first, 1, 5)
		published(ctx, t, second, 3, 8)
		published(ctx, t, first, 7, 10)
		values := committed(ctx, t, second, topic, 10)
		eachOnce(t, values, 10)
		last := make(map[int]int) // of keys
		for _, v := range values {
			n, _ := strconv.Atoi(v)
			if n < last[n%5] {
				t.Errorf("%d comes after %d", n, last[n%5])
			}
			last[n%5] = n
		}
	}
	t.Run("kfake", func(t *testing.T) { run(t, brokers.StartFake(t), "ledger") })
	t.Run("kafka", func(t *testing.T) { run(t, brokers.Shared(t), "ledger") })
}

type herald struct{}

var (
	heraldType = actors.NewType[herald]("herald")
	announce   = actors.Declare[int, struct{}](heraldType, "announce")
)

func hostHeralds() actors.Hosting {
	return actors.Host(heraldType, actors.Settings{},
		actors.Handle(announce, func(_ context.Context, self actors.Self[herald], n int) (none struct{}, err error) {
			return none, self.Publish(actors.Message{Topic: "news", Key: strconv.Itoa(n), Value: []byte(strconv.Itoa(n))})
		}))
}

// Actors publish while their owners come and go.
func TestEachMessageOfAStepIsReadOnceWhileOwnersMove(t *testing.T) {
	const messages, parts = 500, 5
	addrs := brokers.StartFake(t)
	c := config(addrs, "heralds")
	c.ExactlyOnce = []string{"news"}
	if err := kafka.Setup(t.Context(), c, heraldType.Name()); err != nil {
		t.Fatal(err)
	}
	ordinary(t, addrs, "news")
	start(t, c, "stays", hostHeralds())
	ctx := start(t, c, "client").Context(t.Context())
	for part := range parts {
		moves := start(t, c, fmt.Sprint("moves ", part), hostHeralds())
		for n := range messages / parts {
			number := part*messages/parts + n + 1
			if _, err := announce.Call(ctx, heraldType.Ref(fmt.Sprint("herald ", number%7)), number); err != nil {
				t.Fatal(err)
			}
		}
		stop(t, moves)
	}
	reading, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	eachOnce(t, slices.Clip(committed(reading, t, opened(t, c), "news", messages)), messages)
}
