package retry_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/retry"
)

func Example() {
	p, err := retry.New(retry.Config{Base: retry.NoWait}) // examples do not wait
	if err != nil {
		panic(err)
	}
	price, err := retry.Do(context.Background(), p, func(ctx context.Context) (int, error) {
		if retry.Attempt(ctx) == 1 {
			return 0, errors.New("connection reset")
		}
		return 42, nil
	})
	fmt.Println(price, err)
	// Output: 42 <nil>
}

func ExampleExhaustedError() {
	p, _ := retry.New(retry.Config{Base: retry.NoWait})
	_, err := retry.Do(context.Background(), p, func(context.Context) (int, error) {
		return 0, errors.New("connection reset")
	})
	if gaveUp, ok := errors.AsType[*retry.ExhaustedError](err); ok {
		fmt.Println(gaveUp.Attempts, gaveUp.Reason, gaveUp.Last)
	}
	// Output: 3 exhausted connection reset
}

// A failure that no other attempt will mend is marked as such.
func ExampleDo_permanent() {
	p, _ := retry.New(retry.Config{})
	ctx, report := backstay.WithReport(context.Background())
	_, err := retry.Do(ctx, p, func(context.Context) (int, error) {
		return 0, backstay.PermanentError(errors.New("no such account"))
	})
	fmt.Println(err)
	fmt.Println(report.Summary().Attempts, report.Summary().Reason)
	// Output:
	// no such account
	// 1 do_not_retry
}

// The server's wait does not fit into the caller's deadline, so the call ends
// at once instead of at the deadline.
func ExampleDo_deadline() {
	p, _ := retry.New(retry.Config{})
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err := retry.Do(ctx, p, func(context.Context) (int, error) {
		return 0, backstay.RetryAfter(errors.New("overloaded"), 5*time.Second)
	})
	if gaveUp, ok := errors.AsType[*retry.ExhaustedError](err); ok {
		fmt.Println(gaveUp.Reason, gaveUp.Wait >= 5*time.Second)
	}
	// Output: no_time true
}

// Every call earns a tenth of a retry. In an outage the burst is soon spent.
func ExampleBudget() {
	p, _ := retry.New(retry.Config{Base: retry.NoWait})
	attempts := 0
	for range 100 {
		_, _ = retry.Do(context.Background(), p, func(context.Context) (int, error) {
			attempts++
			return 0, errors.New("down")
		})
	}
	fmt.Println(attempts)
	// Output: 113
}

// One budget for all clients of a backend.
func ExampleWithBudget() {
	shared, _ := retry.NewBudget(retry.BudgetConfig{Ratio: 0.05})
	orders, _ := retry.New(retry.Config{}, retry.WithBudget(shared))
	refunds, _ := retry.New(retry.Config{MaxAttempts: 5}, retry.WithBudget(shared))
	fmt.Println(orders.Budget() == refunds.Budget(), shared.Available())
	// Output: true 3
}

// A schedule that a program already has.
func ExampleWithBackOff() {
	p, _ := retry.New(retry.Config{MaxAttempts: 10}, retry.WithBackOff(func() backoff.BackOff {
		return backoff.WithMaxRetries(&backoff.ZeroBackOff{}, 1)
	}))
	_, err := retry.Do(context.Background(), p, func(context.Context) (int, error) {
		return 0, errors.New("down")
	})
	fmt.Println(errors.Is(err, retry.ErrExhausted))
	// Output: true
}

// A server that serves a retry leaves further retries to the layer above.
func ExampleSuppress() {
	p, _ := retry.New(retry.Config{})
	ctx := retry.Suppress(context.Background())
	attempts := 0
	_, err := retry.Do(ctx, p, func(context.Context) (int, error) {
		attempts++
		return 0, errors.New("down")
	})
	fmt.Println(attempts, err)
	// Output: 1 down
}

// The decision can be asked without a call.
func ExamplePolicy_Next() {
	p, _ := retry.New(retry.Config{})
	d := p.Next(retry.State{
		Attempt:   1,
		Outcome:   backstay.Outcome{Class: backstay.Transient},
		Backoff:   80 * time.Millisecond,
		Remaining: 85 * time.Millisecond,
		Bounded:   true,
	})
	fmt.Println(d.Retry, d.Reason, d.Wait)
	// Output: false no_time 80ms
}
