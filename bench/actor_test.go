package bench

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/backstay-go/backstay/actors"
	actorlog "github.com/backstay-go/backstay/actors/memory"
)

// BenchmarkActor compares calls of an actor. "channel" is the yardstick: a
// goroutine asked over a channel, and its answer. protoactor-go keeps its
// actors in memory: nothing is on record there, and nothing is retried.
func BenchmarkActor(b *testing.B) {
	ctx := counters(b, 1)
	one := counter.Ref("one")
	compare(b, "call", succeeds,
		channel(b),
		library{"backstay", func(context.Context) error { _, err := increase.Call(ctx, one, 1); return err }},
		library{"backstay-tail", func(context.Context) error { _, err := chained.Call(ctx, one, 1); return err }},
		library{"backstay-query", func(context.Context) error { _, err := look.Call(ctx, one, 1); return err }},
		protoactor(b, protoactors(b)),
	)
}

// BenchmarkActors compares what most services have: many callers at once, here
// each of an actor of its own. What comes together is worked off together.
func BenchmarkActors(b *testing.B) {
	const callers = 64
	ctx, system := counters(b, 4), protoactors(b)
	compareCrowd(b, "crowd", succeeds,
		crowd(callers, func(int) library { return channel(b) }),
		crowd(callers, func(i int) library {
			ref := counter.Ref(strconv.Itoa(i))
			return library{"backstay", func(context.Context) error { _, err := increase.Call(ctx, ref, 1); return err }}
		}),
		crowd(callers, func(int) library { return protoactor(b, system) }),
	)
}

// tails is how many links a chain has.
const tails = 100

// BenchmarkTail times a link of a chain of tail calls on one actor.
func BenchmarkTail(b *testing.B) {
	ctx := counters(b, 1)
	b.Run("link/backstay", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if i%tails != 0 {
				continue
			}
			if _, err := countdown.Call(ctx, counter.Ref("chain"), tails); err != nil {
				b.Fatal(err)
			}
		}
	})
}

type counting struct{}

var (
	counter   = actors.NewType[counting]("counter")
	sum       = actors.NewValue[int](counter, "sum")
	increase  = actors.Declare[int, int](counter, "increase")
	chained   = actors.Declare[int, int](counter, "chained")
	countdown = actors.Declare[int, int](counter, "countdown")
	look      = actors.DeclareQuery[int, int](counter, "look")
)

// counters opens a node on a log in memory with so many partitions.
func counters(b *testing.B, partitions uint32) context.Context {
	b.Helper()
	node, err := actors.Open(b.Context(), actors.Config{Window: time.Second}, actorlog.New(actorlog.WithPartitions(partitions)),
		actors.Host(counter, actors.Settings{},
			actors.Handle(increase, func(ctx context.Context, self actors.Self[counting], n int) (int, error) {
				have, err := sum.Get(ctx, self)
				if err != nil {
					return 0, err
				}
				return have + n, sum.Set(self, have+n)
			}),
			actors.HandleNext(chained, func(ctx context.Context, self actors.Self[counting], n int) (actors.Next[int], error) {
				return increase.Tail(self, n), nil
			}),
			actors.HandleNext(countdown, func(_ context.Context, self actors.Self[counting], n int) (actors.Next[int], error) {
				if n == 0 {
					return actors.Return(0), nil
				}
				return countdown.Tail(self, n-1), nil
			}),
			actors.HandleShared(look, func(ctx context.Context, view actors.View[counting], _ int) (int, error) {
				return sum.Get(ctx, view)
			}),
		))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := node.Stop(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return node.Context(b.Context())
}

// channel is a goroutine that answers.
func channel(b *testing.B) library {
	b.Helper()
	ask, answer := make(chan int), make(chan int)
	go func() {
		have := 0
		for n := range ask {
			have += n
			answer <- have
		}
	}()
	b.Cleanup(func() { close(ask) })
	return library{"channel", func(context.Context) error {
		ask <- 1
		<-answer
		return nil
	}}
}

// protoactors is what counters live in there.
func protoactors(b *testing.B) *actor.ActorSystem {
	b.Helper()
	system := actor.NewActorSystem()
	b.Cleanup(system.Shutdown)
	return system
}

// protoactor is the same counter there.
func protoactor(b *testing.B, system *actor.ActorSystem) library {
	b.Helper()
	have := 0
	pid := system.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		if n, ok := c.Message().(int); ok {
			have += n
			c.Respond(have)
		}
	}))
	return library{"protoactor-go", func(context.Context) error {
		answer, err := system.Root.RequestFuture(pid, 1, time.Minute).Result()
		if err != nil {
			return err
		}
		if _, ok := answer.(int); !ok {
			return fmt.Errorf("%v is no sum", answer)
		}
		return nil
	}}
}
