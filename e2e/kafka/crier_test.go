package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka"
	"github.com/backstay-go/backstay/e2e/brokers"
)

type crier struct{}

var (
	crierType = actors.NewType[crier]("crier")
	cry       = actors.Declare[int, struct{}](crierType, "cry")
)

// cries is how many messages a step publishes, with keys of their own.
const cries = 3

// criersTopic is where they go: exactly once, in the processes of this fleet.
const criersTopic = "cries"

func hostCriers() actors.Hosting {
	return actors.Host(crierType, actors.Settings{},
		actors.Handle(cry, func(_ context.Context, self actors.Self[crier], n int) (none struct{}, err error) {
			for i := range cries {
				m := actors.Message{Topic: criersTopic, Key: fmt.Sprint(n%7, i), Value: []byte(strconv.Itoa(n*cries + i))}
				err = errors.Join(err, self.Publish(m))
			}
			return none, err
		}))
}

// beCrier hosts criers until it is killed.
func beCrier(ctx context.Context, log journal.Log, name string) error {
	n, err := actors.Open(ctx, actors.Config{Name: name}, log, hostCriers())
	if err != nil {
		return err
	}
	<-ctx.Done()
	return n.Stop(context.WithoutCancel(ctx))
}

// A process that publishes exactly once is killed in the middle of transactions,
// at every step of one on kfake, anywhere on Kafka. Who reads what is committed
// sees each message once, in order, and none is missing.
func TestWhatIsPublishedByProcessesThatAreKilledIsReadOnce(t *testing.T) {
	t.Run("kfake", func(t *testing.T) {
		cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cluster.Close)
		var next trap
		cluster.Control(func(r kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			if next.springs(r) {
				return nil, errors.New("the process that asked is dead"), true
			}
			return nil, nil, false
		})
		f := newFleet(t, cluster.ListenAddrs(), "criers")
		publishWhileKilled(f, 2*len(moments), func(i int, _ *atomic.Int64, kill func()) { next.set(i, kill) })
	})
	t.Run("Kafka", func(t *testing.T) {
		f := newFleet(t, brokers.Shared(t), "criers")
		publishWhileKilled(f, 3, func(i int, asked *atomic.Int64, kill func()) {
			for enough := asked.Load() + 200 + int64(37*i); asked.Load() < enough && !t.Failed(); {
				time.Sleep(time.Millisecond)
			}
			kill()
		})
	})
}

// trap kills a process when it asks for something, and tells when that was.
type trap struct {
	mu   sync.Mutex
	at   kmsg.Key
	skip int  // so many times it lives on
	late bool // what it has asked for is done all the same
	kill func()
	hit  chan struct{}
}

// moments are those of a transaction.
var moments = []struct {
	kmsg.Key
	late bool
}{
	{kmsg.AddPartitionsToTxn, true}, // nothing was sent yet
	{kmsg.AddOffsetsToTxn, false},   // the messages are there
	{kmsg.TxnOffsetCommit, true},    // and their number
	{kmsg.EndTxn, false},            // the last moment at which it does not count
	{kmsg.EndTxn, true},             // it counts, and the process does not know
}

// set waits until a process has been killed at the i-th moment: one of its first
// transaction, and, the second time round, of a later one.
func (x *trap) set(i int, kill func()) {
	moment, hit := moments[i%len(moments)], make(chan struct{})
	const later = 10
	x.mu.Lock()
	x.at, x.skip, x.late, x.kill, x.hit = moment.Key, i/len(moments)*later, moment.late, kill, hit
	x.mu.Unlock()
	<-hit
}

// springs reports whether a request is not to be answered.
func (x *trap) springs(r kmsg.Request) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.kill == nil || r.Key() != x.at.Int16() {
		return false
	}
	if x.skip--; x.skip >= 0 {
		return false
	}
	x.kill()
	x.kill = nil
	close(x.hit)
	return !x.late
}

// publishWhileKilled has one process publish that is killed some times, each time
// somewhere in its work, and replaced. asked counts the requests so far.
func publishWhileKilled(f *fleet, times int, somewhere func(i int, asked *atomic.Int64, kill func())) {
	t := f.TB.(*testing.T)
	t.Helper()
	if err := kafka.Setup(t.Context(), f.config(), crierType.Name()); err != nil {
		t.Fatal(err)
	}
	ordinary(t, f.addrs, criersTopic)
	ctx := start(t, f.config(), "client").Context(t.Context())
	process := f.start(crierOf)
	var asked atomic.Int64
	var clients sync.WaitGroup
	over := make(chan struct{})
	for range 8 {
		clients.Go(func() {
			for done := false; !done && !t.Failed(); {
				select {
				case <-over: // one more, for the last process
					done = true
				default:
				}
				n := int(asked.Add(1)) - 1
				if _, err := cry.Call(ctx, crierType.Ref(fmt.Sprint("crier ", n%23)), n, actors.IdempotencyKey(fmt.Sprint("cry ", n))); err != nil {
					t.Errorf("cry %d: %v", n, err)
				}
			}
		})
	}
	for i := range times {
		dying := process
		somewhere(i, &asked, func() {
			dying.kill()
			<-dying.ended
		})
		process = f.start(crierOf)
	}
	close(over)
	clients.Wait()
	n := int(asked.Load()) * cries
	t.Logf("%d messages, %d kills", n, times)
	judgeCries(t, n, readCommitted(t, f.addrs, criersTopic, n))
}

// readCommitted reads what is committed of a topic with a client that knows
// nothing of actors: at least n messages, and what comes within a while after them.
func readCommitted(t *testing.T, addrs []string, topic string, n int) (all []*sarama.ConsumerMessage) {
	t.Helper()
	c := sarama.NewConfig()
	c.Version = sarama.V2_8_0_0
	c.Consumer.IsolationLevel = sarama.ReadCommitted
	consumer, err := sarama.NewConsumer(addrs, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = consumer.Close() })
	partitions, err := consumer.Partitions(topic)
	if err != nil {
		t.Fatal(err)
	}
	messages := make(chan *sarama.ConsumerMessage)
	for _, p := range partitions {
		part, err := consumer.ConsumePartition(topic, p, sarama.OffsetOldest)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(part.AsyncClose)
		go func() {
			for m := range part.Messages() {
				messages <- m
			}
		}()
	}
	const afterwards = time.Second
	for wait := patience; ; {
		select {
		case m := <-messages:
			if all = append(all, m); len(all) >= n {
				wait = afterwards
			}
		case <-time.After(wait):
			return all
		}
	}
}

// judgeCries: each number once; those of a partition of actors without a gap, and
// in order within each partition of the topic.
func judgeCries(t *testing.T, n int, all []*sarama.ConsumerMessage) {
	t.Helper()
	values := make([]string, 0, len(all))
	for _, m := range all {
		number, _ := strconv.Atoi(string(m.Value))
		values = append(values, strconv.Itoa(number+1))
	}
	eachOnce(t, values, n)
	type lane struct {
		from      string
		partition int32
	}
	last := make(map[lane]int)
	highest, count := make(map[string]int), make(map[string]int)
	for _, m := range all {
		var from string
		var number int
		for _, h := range m.Headers {
			switch string(h.Key) {
			case "backstay-source":
				from = string(h.Value)
			case "backstay-number":
				number, _ = strconv.Atoi(string(h.Value))
			}
		}
		at := lane{from, m.Partition}
		if number <= last[at] {
			t.Errorf("number %d of %s comes after %d in partition %d", number, from, last[at], m.Partition)
		}
		last[at] = number
		highest[from] = max(highest[from], number)
		count[from]++
	}
	for from, most := range highest {
		if count[from] != most {
			t.Errorf("of %s there are %d messages, and the last has number %d", from, count[from], most)
		}
	}
}
