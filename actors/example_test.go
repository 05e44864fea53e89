package actors_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/memory"
)

// account stands for the type of actors.
type account struct{}

var (
	Account = actors.NewType[account]("account")
	Deposit = actors.Declare[int, int](Account, "deposit")
	Send    = actors.Declare[Transfer, int](Account, "send")
	Balance = actors.DeclareQuery[struct{}, int](Account, "balance")

	ErrNoFunds = actors.RegisterError("account.no-funds", errors.New("not enough money"))
)

// Transfer is an order.
type Transfer struct {
	To    actors.Ref[account]
	Cents int
}

var cents = actors.NewValue[int](Account, "cents")

func deposit(ctx context.Context, self actors.Self[account], amount int) (int, error) {
	have, err := cents.Get(ctx, self)
	if err != nil {
		return 0, err
	}
	return have + amount, cents.Set(self, have+amount)
}

// send takes the money off, and goes on at the receiver: one record for both.
func send(ctx context.Context, self actors.Self[account], t Transfer) (next actors.Next[int], err error) {
	have, err := cents.Get(ctx, self)
	switch {
	case err != nil:
		return next, err
	case have < t.Cents:
		return next, ErrNoFunds
	}
	return Deposit.TailTo(t.To, t.Cents), cents.Set(self, have-t.Cents)
}

func balance(ctx context.Context, view actors.View[account], _ struct{}) (int, error) {
	return cents.Get(ctx, view)
}

func hostAccounts() actors.Hosting {
	return actors.Host(Account, actors.Settings{},
		actors.Handle(Deposit, deposit), actors.HandleNext(Send, send), actors.HandleShared(Balance, balance))
}

// open is Open for examples: a node of its own, and what stops it.
func open(hostings ...actors.Hosting) (ctx context.Context, stop func()) {
	ctx = context.Background()
	node, err := actors.Open(ctx, actors.Config{}, memory.New(), hostings...)
	if err != nil {
		log.Fatal(err)
	}
	return node.Context(ctx), func() {
		if err := node.Stop(ctx); err != nil {
			log.Fatal(err)
		}
	}
}

func Example() {
	ctx := context.Background()
	node, err := actors.Open(ctx, actors.Config{}, memory.New(), hostAccounts())
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = node.Stop(ctx) }()
	ctx = node.Context(ctx)

	fmt.Println(Deposit.Call(ctx, Account.Ref("alice"), 100))
	fmt.Println(Send.Call(ctx, Account.Ref("alice"), Transfer{To: Account.Ref("bob"), Cents: 30}))
	fmt.Println(Balance.Call(ctx, Account.Ref("alice"), struct{}{}))
	_, err = Send.Call(ctx, Account.Ref("alice"), Transfer{To: Account.Ref("bob"), Cents: 500})
	fmt.Println(err, errors.Is(err, ErrNoFunds))
	// Output:
	// 100 <nil>
	// 30 <nil>
	// 70 <nil>
	// not enough money true
}

// Calls that are begun before one is awaited run side by side, and are
// recorded together.
func ExampleMethod_Go() {
	ctx, stop := open(hostAccounts())
	defer stop()

	a := Deposit.Go(ctx, Account.Ref("alice"), 1)
	b := Deposit.Go(ctx, Account.Ref("bob"), 2)
	fmt.Println(a.Await(ctx))
	fmt.Println(b.Await(ctx))
	// Output:
	// 1 <nil>
	// 2 <nil>
}

// A client that does not know whether its request arrived asks again with the
// same key: the method runs once, and the first answer comes back.
func ExampleIdempotencyKey() {
	ctx, stop := open(hostAccounts())
	defer stop()

	for range 3 {
		fmt.Println(Deposit.Call(ctx, Account.Ref("alice"), 100, actors.IdempotencyKey("payday, November")))
	}
	// Output:
	// 100 <nil>
	// 100 <nil>
	// 100 <nil>
}

// A tell is not waited for. What it ends with is told to the node's observer.
func ExampleMethod_Tell() {
	ctx, stop := open(hostAccounts())
	defer stop()

	err := Deposit.Tell(ctx, Account.Ref("alice"), 100, actors.ExpireAfter(time.Minute))
	fmt.Println(err)
	fmt.Println(Deposit.Call(ctx, Account.Ref("alice"), 1)) // in order
	// Output:
	// <nil>
	// 101 <nil>
}

// shelf stands for a type of actors that have a map.
type shelf struct{}

// The entries of a Map are stored one by one, and come in the order of their
// keys.
func ExampleMap() {
	shelves := actors.NewType[shelf]("shelf")
	stock := actors.NewMap[string, int](shelves, "stock")
	put := actors.Declare[map[string]int, []string](shelves, "put")

	ctx, stop := open(actors.Host(shelves, actors.Settings{},
		actors.Handle(put, func(ctx context.Context, self actors.Self[shelf], more map[string]int) (list []string, err error) {
			for what, n := range more {
				have, _, err := stock.Get(ctx, self, what)
				if err != nil {
					return nil, err
				}
				if err := stock.Set(self, what, have+n); err != nil {
					return nil, err
				}
			}
			for entry, err := range stock.All(ctx, self) {
				if err != nil {
					return nil, err
				}
				list = append(list, fmt.Sprintf("%d %s", entry.Value, entry.Key))
			}
			return list, nil
		})))
	defer stop()

	fmt.Println(put.Call(ctx, shelves.Ref("kitchen"), map[string]int{"pears": 3, "apples": 2}))
	fmt.Println(put.Call(ctx, shelves.Ref("kitchen"), map[string]int{"figs": 9, "apples": 1}))
	// Output:
	// [2 apples 3 pears] <nil>
	// [3 apples 9 figs 3 pears] <nil>
}

// egg stands for a type of actors that have reminders.
type egg struct{}

// A reminder is part of the step that sets it, and rings wherever the actor is
// by then.
func ExampleMethod_Remind() {
	eggs := actors.NewType[egg]("egg")
	boil := actors.Declare[time.Duration, string](eggs, "boil")
	ready := actors.Declare[string, struct{}](eggs, "ready")
	rang := make(chan string)

	ctx, stop := open(actors.Host(eggs, actors.Settings{},
		actors.Handle(boil, func(_ context.Context, self actors.Self[egg], d time.Duration) (string, error) {
			return "boiling", ready.Remind(self, "timer", actors.After(d), "ready: "+self.ID())
		}),
		actors.Handle(ready, func(_ context.Context, _ actors.Self[egg], what string) (struct{}, error) {
			rang <- what
			return struct{}{}, nil
		})))
	defer stop()

	fmt.Println(boil.Call(ctx, eggs.Ref("breakfast"), 20*time.Millisecond))
	fmt.Println(<-rang)
	// Output:
	// boiling <nil>
	// ready: breakfast
}

// A failed attempt is repeated. Without Retry, an error is the call's result.
func ExampleRetry() {
	ring := actors.Declare[struct{}, string](Account, "ring")
	tries := 0

	ctx, stop := open(actors.Host(Account, actors.Settings{},
		actors.Handle(ring, func(_ context.Context, self actors.Self[account], _ struct{}) (string, error) {
			if tries++; tries < 3 {
				return "", actors.Retry(errors.New("the line is busy"), time.Millisecond)
			}
			return fmt.Sprintf("attempt %d got through", self.Attempt()), nil
		})))
	defer stop()

	fmt.Println(ring.Call(ctx, Account.Ref("alice"), struct{}{}))
	// Output: attempt 3 got through <nil>
}

// session is an instance: it lives in the memory of the process that owns its
// actor, and starts anew elsewhere.
type session struct{ hits int }

// An instance is made before the first method of its actor.
func ExampleHostInstances() {
	hit := actors.Declare[struct{}, int](Account, "hit")

	ctx, stop := open(actors.HostInstances(Account, actors.Settings{IdleAfter: time.Minute},
		func(context.Context, actors.Self[account]) (*session, error) { return new(session), nil },
		actors.HandleOn(hit, func(s *session, _ context.Context, _ actors.Self[account], _ struct{}) (int, error) {
			s.hits++
			return s.hits, nil
		})))
	defer stop()

	fmt.Println(hit.Call(ctx, Account.Ref("alice"), struct{}{}))
	fmt.Println(hit.Call(ctx, Account.Ref("alice"), struct{}{}))
	// Output:
	// 1 <nil>
	// 2 <nil>
}

// ErrWho is for callers without a name.
var ErrWho = actors.RegisterError("who", errors.New("who are you?"))

// Interceptors see every method and query: here, one that lets nobody in
// without a name.
func ExampleInterceptor() {
	node, err := actors.Open(context.Background(), actors.Config{
		Interceptors: []actors.Interceptor{
			func(ctx context.Context, _ actors.Invocation, next func(context.Context) error) error {
				if actors.BaggageFrom(ctx)["user"] == "" {
					return ErrWho
				}
				return next(ctx)
			},
		},
	}, memory.New(), hostAccounts())
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = node.Stop(context.Background()) }()
	ctx := node.Context(context.Background())

	_, err = Deposit.Call(ctx, Account.Ref("alice"), 1)
	fmt.Println(err)
	fmt.Println(Deposit.Call(actors.WithBaggage(ctx, "user", "alice"), Account.Ref("alice"), 1))
	// Output:
	// who are you?
	// 1 <nil>
}

// A program that stores a new form of a value reads the old one.
func ExampleVersion() {
	type money struct {
		Cents    int
		Currency string
	}
	balance := actors.NewValue(Account, "balance", actors.Version(2, func(_ int, raw []byte) (money, error) {
		var old int // what version 1 stored
		err := actors.JSON{}.Decode(raw, &old)
		return money{Cents: old, Currency: "EUR"}, err
	}))
	before := actors.NewValue[int](Account, "balance")
	migrate := actors.Declare[struct{}, string](Account, "migrate")

	ctx, stop := open(actors.Host(Account, actors.Settings{},
		actors.Handle(migrate, func(ctx context.Context, self actors.Self[account], _ struct{}) (string, error) {
			if err := before.Set(self, 995); err != nil { // as the older program did
				return "", err
			}
			m, err := balance.Get(ctx, self)
			return fmt.Sprint(m.Cents, " ", m.Currency), err
		})))
	defer stop()

	fmt.Println(migrate.Call(ctx, Account.Ref("alice"), struct{}{}))
	// Output: 995 EUR <nil>
}
