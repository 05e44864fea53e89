package kafka_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka"
)

// patience is how long anything may take.
const patience = 30 * time.Second

// admin is a client for what a test does behind the Log's back.
func admin(t *testing.T, addrs []string) sarama.ClusterAdmin {
	t.Helper()
	c := sarama.NewConfig()
	c.Version = sarama.V4_0_0_0
	a, err := sarama.NewClusterAdmin(addrs, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// ordinary makes a topic that is nobody's in particular.
func ordinary(t *testing.T, addrs []string, name string) {
	t.Helper()
	err := admin(t, addrs).CreateTopic(name, &sarama.TopicDetail{NumPartitions: 2, ReplicationFactor: 1}, false)
	if err != nil && !errors.Is(err, sarama.ErrTopicAlreadyExists) {
		t.Fatal(err)
	}
}

// opened makes the topics of a type "a" and opens the log; both are closed at
// the end.
func opened(t *testing.T, c kafka.Config) *kafka.Log {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	if err := kafka.Setup(ctx, c, "a"); err != nil {
		t.Fatal(err)
	}
	l, err := kafka.Open(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// a is the partition that is used.
var a = journal.Partition{Type: "a", Index: 1}

// put appends and waits.
func put(t *testing.T, l *kafka.Log, data string) (journal.Place, error) {
	t.Helper()
	type end struct {
		at  journal.Place
		err error
	}
	c := make(chan end, 1)
	l.Append(a, []byte(data), func(at journal.Place, err error) { c <- end{at, err} })
	select {
	case e := <-c:
		return e.at, e.err
	case <-time.After(2 * patience):
		t.Fatal("an append has no end")
		return journal.Place{}, nil
	}
}

// take reads n entries from an offset on.
func take(t *testing.T, l *kafka.Log, from int64, n int) []journal.Entry {
	t.Helper()
	r := read(t, l, from)
	r.until(n)
	return r.all
}

// reading is a reader with what it has read.
type reading struct {
	journal.Reader
	t     *testing.T
	log   *kafka.Log
	woken chan struct{}
	all   []journal.Entry
}

// read begins to read from an offset on, until the end of the test.
func read(t *testing.T, l *kafka.Log, from int64) *reading {
	t.Helper()
	r := &reading{t: t, log: l, woken: make(chan struct{}, 1)}
	var err error
	r.Reader, err = l.Read(a, from, func() {
		select {
		case r.woken <- struct{}{}:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// until reads until there are n entries.
func (r *reading) until(n int) {
	r.t.Helper()
	limit := time.After(patience)
	for len(r.all) < n {
		entries, err := r.Poll(1 << 20)
		if err != nil {
			r.t.Fatal(err)
		}
		if r.all = append(r.all, entries...); len(entries) > 0 {
			continue
		}
		select {
		case <-r.woken:
		case <-limit:
			r.t.Fatalf("%d of %d entries came; %+v", len(r.all), n, r.log.Health())
		}
	}
}
