package actors_test

import (
	"context"
	"fmt"
	"time"

	"github.com/backstay-go/backstay/actors"
)

// claim stands for a type of actors whose answers are a person's.
type claim struct{}

// The method hands a token on, and is done. Who has the token gives the caller
// its value: here the program itself, elsewhere a web page, days later.
func ExampleDefer() {
	claims := actors.NewType[claim]("claim")
	approve := actors.Declare[int, string](claims, "approve")
	desk := make(chan actors.Token[string], 1)

	ctx, stop := open(actors.Host(claims, actors.Settings{},
		actors.HandleNext(approve, func(_ context.Context, self actors.Self[claim], cents int) (actors.Next[string], error) {
			if cents < 1000 {
				return actors.Return("approved at once"), nil
			}
			token, reply := actors.Defer[string](self, 48*time.Hour)
			desk <- token
			return reply, nil
		})))
	defer stop()

	fmt.Println(approve.Call(ctx, claims.Ref("7"), 500))
	waiting := approve.Go(ctx, claims.Ref("7"), 50_000)
	fmt.Println((<-desk).Complete(ctx, "approved by Ann"))
	fmt.Println(waiting.Await(ctx))
	// Output:
	// approved at once <nil>
	// <nil>
	// approved by Ann <nil>
}

// A client that was cut short asks later how its call has ended, by its key.
// Nothing runs.
func ExampleMethod_Result() {
	ctx, stop := open(hostAccounts())
	defer stop()

	_, err := Deposit.Result(ctx, Account.Ref("alice"), "payday")
	fmt.Println(err)
	fmt.Println(Deposit.Tell(ctx, Account.Ref("alice"), 100, actors.IdempotencyKey("payday")))
	fmt.Println(Deposit.Call(ctx, Account.Ref("alice"), 1)) // behind it
	fmt.Println(Deposit.Result(ctx, Account.Ref("alice"), "payday"))
	// Output:
	// account/alice.deposit: actors: no request with this key is known
	// <nil>
	// 101 <nil>
	// 100 <nil>
}

// Actors that have something are found without being called.
func ExampleList() {
	ctx, stop := open(hostAccounts())
	defer stop()

	for _, who := range []string{"alice", "bob"} {
		if _, err := Deposit.Call(ctx, Account.Ref(who), 100); err != nil {
			fmt.Println(err)
		}
	}
	n := 0
	for found, err := range actors.List(ctx, Account) {
		if err != nil {
			fmt.Println(err)
			break
		}
		n += found.Values
	}
	d, err := actors.Describe(ctx, Account.Ref("bob"))
	fmt.Println(n, d.Values[0].Name, string(d.Values[0].Raw), err)
	// Output: 2 cents 100 <nil>
}
