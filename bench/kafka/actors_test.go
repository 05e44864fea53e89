package kafka

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/kafka"
)

// app begins the names of the topics.
const app = "bench"

// callers is how many call at once when throughput is measured; each has
// actors of its own.
const callers = 256

// hops is how many tail calls a chain has.
const hops = 20

type (
	counting struct{}
	fronting struct{}
)

var (
	counter   = actors.NewType[counting]("counter")
	sum       = actors.NewValue[int](counter, "sum")
	increase  = actors.Declare[int, int](counter, "increase")
	countdown = actors.Declare[int, int](counter, "countdown")
	announce  = actors.Declare[notice, int](counter, "announce")
	look      = actors.DeclareQuery[int, int](counter, "look")

	// A type of its own has partitions of its own, so that a nested call
	// crosses from one log to another.
	front = actors.NewType[fronting]("front")
	relay = actors.Declare[string, int](front, "relay")
)

// token is what direct connections are opened with.
const token = "a secret of the benchmark"

// logConfig is that of all processes.
func logConfig(at cluster) kafka.Config {
	return kafka.Config{
		App: app, Brokers: at.Brokers, Sarama: settings(), Replication: at.Replicas,
		Types: map[string]uint32{"counter": partitions, "front": partitions}, ExactlyOnce: []string{exactlyOnce},
	}
}

// host owns the actors.
func host(ctx context.Context, at cluster, ready func()) error {
	c := logConfig(at)
	c.Direct = &kafka.Direct{Listen: "127.0.0.1:0", Token: token}
	log, err := kafka.Open(ctx, c)
	if err != nil {
		return err
	}
	node, err := actors.Open(ctx, actors.Config{Name: "host"}, log,
		actors.Host(counter, actors.Settings{},
			actors.Handle(increase, add),
			actors.HandleNext(countdown, func(_ context.Context, self actors.Self[counting], n int) (actors.Next[int], error) {
				if n == 0 {
					return actors.Return(0), nil
				}
				return countdown.Tail(self, n-1), nil
			}),
			actors.Handle(announce, func(_ context.Context, self actors.Self[counting], n notice) (int, error) {
				return 0, self.Publish(n.message())
			}),
			actors.HandleShared(look, func(ctx context.Context, view actors.View[counting], _ int) (int, error) {
				return sum.Get(ctx, view)
			}),
		),
		actors.Host(front, actors.Settings{},
			actors.Handle(relay, func(ctx context.Context, _ actors.Self[fronting], to string) (int, error) {
				return increase.Call(ctx, counter.Ref(to), 1)
			}),
		))
	if err != nil {
		return errors.Join(err, log.Close())
	}
	ready()
	<-ctx.Done()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return errors.Join(node.Stop(end), log.Close())
}

func add(ctx context.Context, self actors.Self[counting], n int) (int, error) {
	have, err := sum.Get(ctx, self)
	if err != nil {
		return 0, err
	}
	return have + n, sum.Set(self, have+n)
}

// client is a process that calls actors and has none.
type client struct{ node *actors.Node }

// newClients makes the topics, starts the process that owns the actors, and
// opens two clients: one that gets its answers over the topic, and one that gets
// them directly.
func newClients(b *testing.B, at cluster) (topic, direct *client) {
	b.Helper()
	c := logConfig(at)
	if err := kafka.Setup(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	spawn(b, "host", at)
	topic, _ = newClient(b, c)
	c.Direct = &kafka.Direct{Token: token}
	direct, log := newClient(b, c)
	for log.Health().Direct.Owners == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	return topic, direct
}

func newClient(b *testing.B, c kafka.Config) (*client, *kafka.Log) {
	b.Helper()
	log := must(kafka.Open(b.Context(), c))
	node := must(actors.Open(b.Context(), actors.Config{Name: "client"}, log))
	b.Cleanup(func() {
		if err := errors.Join(node.Stop(context.Background()), log.Close()); err != nil {
			b.Error(err)
		}
	})
	return &client{node}, log
}

func name(caller int) string { return fmt.Sprint("actor", caller) }

func (c *client) root(ctx context.Context, caller int) error {
	_, err := increase.Call(c.node.Context(ctx), counter.Ref(name(caller)), 1)
	return err
}

func (c *client) read(ctx context.Context, caller int) error {
	_, err := look.Call(c.node.Context(ctx), counter.Ref(name(caller)), 0)
	return err
}

func (c *client) chain(ctx context.Context, caller int) error {
	_, err := countdown.Call(c.node.Context(ctx), counter.Ref(name(caller)), hops)
	return err
}

func (c *client) nested(ctx context.Context, caller int) error {
	_, err := relay.Call(c.node.Context(ctx), front.Ref(name(caller)), name(caller))
	return err
}
