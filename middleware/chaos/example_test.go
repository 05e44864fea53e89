package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/chaos"
	"github.com/backstay-go/backstay/retry"
)

// A tenth of the calls is refused until the drill ends; the retry above has to
// mend it.
func Example() {
	faults, err := chaos.New([]middleware.Fault{{
		Name: "refused-tenth", Kind: middleware.FaultRefused, Share: 0.1,
		Until: time.Now().Add(10 * time.Minute),
	}}, chaos.WithRandom(alternately(0.05, 0.5)))
	if err != nil {
		fmt.Println(err)
		return
	}
	payments, err := middleware.New(middleware.Target{
		Name: "payments", Config: middleware.Config{Retry: &retry.Config{Base: retry.NoWait}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, report := backstay.WithReport(context.Background())
	receipt, err := middleware.Do(ctx, payments, func(ctx context.Context) (string, error) {
		return chaos.Do(ctx, faults, chaos.Request{Host: "payments"}, charge)
	})
	fmt.Println(receipt, err)
	fmt.Println(report)

	faults.Disable()
	_, err = chaos.Do(ctx, faults, chaos.Request{}, charge)
	fmt.Println(err)
	// Output:
	// receipt 7 <nil>
	// success after 2 attempts, injected: refused-tenth
	// <nil>
}

// An injected error can be told from a real one.
func ExampleInjectedError() {
	faults, err := chaos.New([]middleware.Fault{{Name: "down", Kind: middleware.FaultRefused, Share: 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = chaos.Do(context.Background(), faults, chaos.Request{Host: "payments:80"}, charge)
	fmt.Println(err)
	if injected, ok := errors.AsType[*chaos.InjectedError](err); ok {
		fmt.Println("on purpose:", injected.Fault)
	}
	// Output:
	// dial tcp payments:80: connect: connection refused (injected by fault "down")
	// on purpose: down
}

func charge(context.Context) (string, error) { return "receipt 7", nil }

// alternately draws its numbers in turn.
func alternately(numbers ...float64) func() float64 {
	n := -1
	return func() float64 {
		n++
		return numbers[n%len(numbers)]
	}
}
