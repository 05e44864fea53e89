package hedge_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
)

// The first replica fails at once, so the second copy does not wait for its
// time, and avoids that replica.
func ExampleDo() {
	policy, err := hedge.New(hedge.Config{Delay: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, report := backstay.WithReport(context.Background())
	price, err := hedge.Do(ctx, policy, func(ctx context.Context) (int, error) {
		replica := "a"
		if len(hedge.AvoidFrom(ctx)) > 0 {
			replica = "b"
		}
		hedge.Used(ctx, replica)
		if replica == "a" {
			return 0, errors.New("connection reset")
		}
		return 42, nil
	})
	fmt.Println(price, err)
	fmt.Println("answered by copy", report.Summary().Winner)
	// Output:
	// 42 <nil>
	// answered by copy 2
}

// Whether and when a copy is sent is a decision without a clock.
func ExamplePolicy_Plan() {
	policy, err := hedge.New(hedge.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, percentile := range []time.Duration{0, time.Millisecond, 80 * time.Millisecond, 3 * time.Second} {
		delay, ok := policy.Plan(hedge.State{Copies: 1, Percentile: percentile, Tokens: 1})
		fmt.Println(percentile, "->", delay, ok)
	}
	// Output:
	// 0s -> 0s false
	// 1ms -> 5ms true
	// 80ms -> 80ms true
	// 3s -> 0s false
}

// Every fault of a configuration is named at once.
func ExampleNew_invalid() {
	_, err := hedge.New(hedge.Config{Percentile: 95, Budget: hedge.BudgetConfig{Ratio: -1}})
	fmt.Println(err)
	// Output:
	// hedge.percentile: 95 is not allowed: must be above 0 and below 1
	// hedge.budget.ratio: -1 is not allowed: must be above 0 and at most 1
}

// A call that must not be sent twice says so.
func ExampleNever() {
	policy, err := hedge.New(hedge.Config{Delay: time.Nanosecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	sent := 0
	_, err = hedge.Do(hedge.Never(context.Background()), policy, func(context.Context) (int, error) {
		sent++
		return 0, errors.New("declined")
	})
	fmt.Println(sent, err)
	// Output: 1 declined
}
