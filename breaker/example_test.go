package breaker_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
)

func ExampleDo() {
	ctx := context.Background()
	policy, err := breaker.New(
		breaker.Config{Consecutive: 3},
		breaker.WithScope(&backstay.Scope{Policy: "payments"}),
	)
	if err != nil {
		panic(err)
	}
	charge := func(context.Context) (string, error) { return "", errors.New("connection reset") }
	for range 4 {
		_, err = breaker.Do(ctx, policy, charge)
		fmt.Println(policy.State(), errors.Is(err, breaker.ErrOpen))
	}
	// Output:
	// closed false
	// closed false
	// open false
	// open true
}

func ExampleBreaker_Allow() {
	ctx := context.Background()
	policy, err := breaker.New(breaker.Config{})
	if err != nil {
		panic(err)
	}
	pass, err := policy.Allow(ctx)
	if err != nil {
		panic(err)
	}
	// ... the call ...
	pass.Done(ctx, backstay.Outcome{Class: backstay.Transient}, 0)
	fmt.Printf("%+v\n", policy.Counts())
	// Output: {Calls:1 Failures:1 Slow:0 Consecutive:1}
}

func ExampleRegistry() {
	hosts, err := breaker.NewRegistry(breaker.Config{Consecutive: 1}, breaker.RegistryConfig{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	_, _ = breaker.Do(ctx, hosts.Get("a.example"), func(context.Context) (int, error) { return 0, errors.New("down") })
	_, _ = breaker.Do(ctx, hosts.Get("b.example"), func(context.Context) (int, error) { return 0, nil })
	fmt.Println("a:", hosts.Get("a.example").State())
	fmt.Println("b:", hosts.Get("b.example").State())
	// Output:
	// a: open
	// b: closed
}

func ExampleBreaker_ForceOpen() {
	policy, err := breaker.New(breaker.Config{}, breaker.WithScope(&backstay.Scope{Policy: "search"}))
	if err != nil {
		panic(err)
	}
	policy.ForceOpen()
	_, err = breaker.Do(context.Background(), policy, func(context.Context) (int, error) { return 1, nil })
	fmt.Println(err)
	policy.Reset()
	fmt.Println(policy.State())
	// Output:
	// breaker search: held open by hand
	// closed
}
