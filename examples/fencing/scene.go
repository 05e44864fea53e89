package main

import (
	"context"
	"errors"
	"sync"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/memory"
)

type account struct{}

var (
	Account = actors.NewType[account]("account")
	// Deposit adds to a balance that a store outside has.
	Deposit = actors.Declare[int, int](Account, "deposit")
)

// sleeper freezes the first attempt that comes to it, until it is woken.
type sleeper struct {
	once   sync.Once
	frozen chan struct{} // closed: it sleeps
	awake  chan struct{} // closed: it is to go on
	wrote  chan error    // what its write came to
}

// host is a process that has accounts. What it does in one method, read and
// write, is done twice where it is interrupted in between: that is what the
// token is for. (To count right beside crashes as well, it would read in one
// link and write in the next; see examples/counter.)
func host(s store, z *sleeper) actors.Hosting {
	return actors.Host(Account, actors.Settings{}, actors.Handle(Deposit,
		func(_ context.Context, self actors.Self[account], n int) (int, error) {
			sum := s.read() + n
			sleeps := false
			z.once.Do(func() { sleeps = true })
			if sleeps {
				close(z.frozen)
				<-z.awake // a long pause of the garbage collector, of the machine, of its disk
				z.wrote <- s.write(self.FencingToken(), sum)
				return sum, nil
			}
			return sum, s.write(self.FencingToken(), sum)
		}))
}

// play deposits 10 while the first owner sleeps, then 5, then wakes it.
func play(ctx context.Context, s store) (balance int, refused, err error) {
	if err := s.write(0, 100); err != nil {
		return 0, nil, err
	}
	z := &sleeper{frozen: make(chan struct{}), awake: make(chan struct{}), wrote: make(chan error, 1)}
	log := memory.New(memory.WithPartitions(1))
	frozen := &link{Log: log}
	first, err := actors.Open(ctx, actors.Config{Name: "first"}, frozen, host(s, z))
	if err != nil {
		return 0, nil, err
	}
	call := first.Context(ctx)
	done := make(chan error, 1)
	go func() {
		_, err := Deposit.Call(call, Account.Ref("alice"), 10, actors.IdempotencyKey("ten"))
		done <- err
	}()
	<-z.frozen
	if err := frozen.evict(ctx); err != nil {
		return 0, nil, err
	}
	second, err := actors.Open(ctx, actors.Config{Name: "second"}, log, host(s, z))
	if err != nil {
		return 0, nil, err
	}
	call = second.Context(ctx)
	for _, deposit := range []struct {
		key   string
		cents int
	}{{"ten", 10}, {"five", 5}} {
		if _, err := Deposit.Call(call, Account.Ref("alice"), deposit.cents, actors.IdempotencyKey(deposit.key)); err != nil {
			return 0, nil, err
		}
	}
	close(z.awake)
	refused = <-z.wrote
	balance = s.read()
	return balance, refused, errors.Join(<-done, first.Stop(ctx), second.Stop(ctx))
}
