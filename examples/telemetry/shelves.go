package main

import (
	"context"
	"errors"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/memory"
	"github.com/backstay-go/backstay/retry"
)

// shelf is an actor that knows how many tins it has.
type shelf struct{}

var (
	shelves = actors.NewType[shelf]("shelf")
	put     = actors.Declare[int, int](shelves, "put")
	count   = actors.Declare[time.Duration, int](shelves, "count")
	burn    = actors.Declare[int, int](shelves, "burn")
	tins    = actors.NewValue[int](shelves, "tins")
)

var errFire = errors.New("it burns")

// stockShelves opens the node of the shelves: what happens on it is told to the
// observer, and what waits on it is asked when metrics are collected.
func (p *program) stockShelves(ctx context.Context) error {
	node, err := actors.Open(ctx, actors.Config{Observer: p.observer, Tracer: p.observer.Actors()}, memory.New(memory.WithPartitions(2)),
		actors.Host(shelves, actors.Settings{Mailbox: 3, Retry: retry.Config{MaxAttempts: 2, Base: retry.NoWait}},
			actors.Handle(put, func(ctx context.Context, self actors.Self[shelf], n int) (int, error) {
				was, err := tins.Get(ctx, self)
				if err != nil {
					return 0, err
				}
				return was + n, tins.Set(self, was+n)
			}),
			actors.Handle(count, func(ctx context.Context, self actors.Self[shelf], takes time.Duration) (int, error) {
				if err := sleep(ctx, takes); err != nil {
					return 0, err
				}
				return tins.Get(ctx, self)
			}),
			actors.Handle(burn, func(context.Context, actors.Self[shelf], int) (int, error) { return 0, actors.Retry(errFire, 0) }),
		))
	if err != nil {
		return err
	}
	p.node = node
	stop := p.observer.WatchActors(node)
	p.later(func() error {
		stop()
		return node.Stop(context.Background())
	})
	return nil
}

// keepShelves fills some shelves, lets more come to one than it has room for,
// later than they would wait, and burns one down.
func (p *program) keepShelves(ctx context.Context) error {
	ctx = p.node.Context(ctx)
	for i := range 30 {
		if _, err := put.Call(ctx, shelves.Ref([]string{"soup", "beans", "rice"}[i%3]), 1); err != nil {
			return err
		}
	}
	busy := count.Go(ctx, shelves.Ref("soup"), 50*time.Millisecond)
	if err := sleep(ctx, 5*time.Millisecond); err != nil {
		return err
	}
	for range 5 {
		if err := put.Tell(ctx, shelves.Ref("soup"), 1, actors.ExpireAfter(20*time.Millisecond)); err != nil {
			return err
		}
	}
	if _, err := burn.Call(ctx, shelves.Ref("matches"), 0); !errors.Is(err, actors.ErrPoison) {
		return err
	}
	_, err := busy.Await(ctx)
	return err
}
