package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/kafka"
	"github.com/backstay-go/backstay/e2e/brokers"
)

// The bank of examples/bank, without its story.

type account struct{}

var (
	bankAccount = actors.NewType[account]("account")

	openAccount = actors.Declare[int, int](bankAccount, "open")
	deposit     = actors.Declare[int, int](bankAccount, "deposit")
	send        = actors.Declare[transfer, receipt](bankAccount, "send")
	balance     = actors.DeclareQuery[struct{}, int](bankAccount, "balance")

	errNoFunds = actors.RegisterError("kafka-e2e.no-funds", errors.New("not enough money"))

	cents  = actors.NewValue[int](bankAccount, "cents")
	credit = actors.Declare[receipt, receipt](bankAccount, "credit")
)

type transfer struct {
	To    actors.Ref[account]
	Cents int
}

type receipt struct {
	From, To actors.Ref[account]
	Cents    int
}

func hostBank() actors.Hosting {
	return actors.Host(bankAccount, actors.Settings{},
		actors.Handle(openAccount, func(ctx context.Context, self actors.Self[account], amount int) (int, error) {
			have, opened, err := cents.Lookup(ctx, self)
			if err != nil || opened {
				return have, err
			}
			return amount, cents.Set(self, amount)
		}),
		actors.Handle(deposit, func(ctx context.Context, self actors.Self[account], amount int) (int, error) {
			have, err := cents.Get(ctx, self)
			if err != nil {
				return 0, err
			}
			return have + amount, cents.Set(self, have+amount)
		}),
		actors.HandleNext(send, func(ctx context.Context, self actors.Self[account], t transfer) (next actors.Next[receipt], err error) {
			have, err := cents.Get(ctx, self)
			switch {
			case err != nil:
				return next, err
			case have < t.Cents:
				return next, errNoFunds
			}
			if err := cents.Set(self, have-t.Cents); err != nil {
				return next, err
			}
			return credit.TailTo(t.To, receipt{From: self.Ref(), To: t.To, Cents: t.Cents}), nil
		}),
		actors.Handle(credit, func(ctx context.Context, self actors.Self[account], r receipt) (receipt, error) {
			have, err := cents.Get(ctx, self)
			if err != nil {
				return r, err
			}
			return r, cents.Set(self, have+r.Cents)
		}),
		actors.HandleShared(balance, func(ctx context.Context, view actors.View[account], _ struct{}) (int, error) {
			return cents.Get(ctx, view)
		}),
	)
}

// start opens a log and a node on it; both are closed at the end of the test.
func start(tb testing.TB, c kafka.Config, name string, hostings ...actors.Hosting) *actors.Node {
	tb.Helper()
	_, node := startOn(tb, c, name, hostings...)
	return node
}

// startOn is start for a test that looks at the log too.
func startOn(tb testing.TB, c kafka.Config, name string, hostings ...actors.Hosting) (*kafka.Log, *actors.Node) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	log, err := kafka.Open(ctx, c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = log.Close() })
	node, err := actors.Open(ctx, actors.Config{Name: name}, log, hostings...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { stop(tb, node) })
	return log, node
}

func stop(tb testing.TB, n *actors.Node) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		tb.Errorf("Stop: %v", err)
	}
}

// Of two nodes, one stops while money moves: none is lost or made.
func TestMoneyIsConservedWhenANodeStops(t *testing.T) {
	const (
		accounts, opening  = 12, 10_000
		clients, transfers = 8, 100
	)
	c := config(brokers.StartFake(t), "bank")
	if err := kafka.Setup(t.Context(), c, bankAccount.Name()); err != nil {
		t.Fatal(err)
	}
	start(t, c, "stays", hostBank())
	leaves := start(t, c, "leaves", hostBank())
	ctx := start(t, c, "client").Context(t.Context())
	at := func(i int) actors.Ref[account] { return bankAccount.Ref(fmt.Sprint("no. ", i)) }
	for i := range accounts {
		if _, err := openAccount.Call(ctx, at(i), opening); err != nil {
			t.Fatal(err)
		}
	}

	var group sync.WaitGroup
	half := make(chan struct{}, clients)
	for n := range clients {
		group.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(n))) //nolint:gosec // repeatable
			for i := range transfers {
				if i == transfers/2 {
					half <- struct{}{}
				}
				from, order := at(r.IntN(accounts)), transfer{To: at(r.IntN(accounts)), Cents: r.IntN(3000)}
				_, err := send.Call(ctx, from, order, actors.IdempotencyKey(fmt.Sprintf("client %d, order %d", n, i)))
				if err != nil && !errors.Is(err, errNoFunds) {
					t.Errorf("client %d, order %d: %v", n, i, err)
				}
			}
		})
	}
	<-half
	stop(t, leaves)
	group.Wait()

	sum := 0
	for i := range accounts {
		have, err := balance.Call(ctx, at(i), struct{}{})
		if err != nil || have < 0 {
			t.Fatalf("account %d: %d, %v", i, have, err)
		}
		sum += have
	}
	if sum != accounts*opening {
		t.Errorf("%d cents of %d are left", sum, accounts*opening)
	}
}
