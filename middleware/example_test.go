package middleware_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// A function goes through all policies of a target. This one fails once.
func ExampleDo() {
	target := middleware.Standard("payments")
	target.Retry = &retry.Config{Base: retry.NoWait} // examples do not wait
	payments, err := middleware.New(target)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	defer payments.Close(ctx)

	attempts := 0
	receipt, err := middleware.Do(ctx, payments, func(context.Context) (string, error) {
		if attempts++; attempts == 1 {
			return "", errors.New("connection reset")
		}
		return "receipt 42", nil
	})
	fmt.Println(receipt, err)
	// Output: receipt 42 <nil>
}

// The report tells the story of one call.
func ExampleDo_report() {
	target := middleware.Standard("payments")
	target.Retry = &retry.Config{Base: retry.NoWait}
	target.Breaker = &breaker.Config{Consecutive: 3}
	payments, err := middleware.New(target)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		ctx, report := backstay.WithReport(context.Background())
		_, err := middleware.Do(ctx, payments, func(context.Context) (int, error) {
			return 0, errors.New("connection reset")
		})
		fmt.Printf("%v (nothing was sent: %v)\n", report, errors.Is(err, backstay.ErrRejected))
	}
	// Output:
	// transient after 3 attempts, exhausted (nothing was sent: false)
	// rejected after 0 attempts, breaker_open (nothing was sent: true)
	// rejected after 0 attempts, breaker_open (nothing was sent: true)
}

// A ladder answers where the call cannot.
func ExampleDoOr() {
	rates, err := middleware.New(middleware.Standard("rates"))
	if err != nil {
		fmt.Println(err)
		return
	}
	ladder, err := middleware.NewLadder(rates, fallback.Rungs(
		fallback.Reduced("yesterday's", func(context.Context, error) (float64, error) { return 1.08, nil }),
	))
	if err != nil {
		fmt.Println(err)
		return
	}
	rates.Breaker().ForceOpen() // as an outage would

	ctx, report := backstay.WithReport(context.Background())
	rate, err := middleware.DoOr(ctx, rates, ladder, func(context.Context) (float64, error) { return 1.09, nil })
	fmt.Println(rate, err)
	fmt.Println(report)
	// Output:
	// 1.08 <nil>
	// success after 0 attempts, breaker_open, degraded: yesterday's
}

// Each key has a breaker of its own: one host in trouble does not cost the
// calls to another.
func ExampleRegistry() {
	hosts, err := middleware.NewRegistry(middleware.Standard("search"))
	if err != nil {
		fmt.Println(err)
		return
	}
	call := func(host string) error {
		p := hosts.Get(host, backstay.Now())
		_, err := middleware.Do(context.Background(), p, func(context.Context) (int, error) { return 0, nil })
		return err
	}
	hosts.Get("a.test", backstay.Now()).Breaker().ForceOpen()
	fmt.Println(call("a.test"))
	fmt.Println(call("b.test"))
	for _, s := range hosts.Statuses() {
		fmt.Println(s.Key, s.Breaker.State)
	}
	// Output:
	// breaker search[a.test]: held open by hand
	// <nil>
	// a.test forced-open
	// b.test closed
}

// The status is plain data, for a page or a gauge.
func ExamplePipeline_Status() {
	target := middleware.Target{Name: "search", Config: middleware.Config{
		Retry: &retry.Config{}, Breaker: &breaker.Config{},
	}}
	search, err := middleware.New(target)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = middleware.Do(context.Background(), search, func(context.Context) (int, error) {
		return 0, backstay.PermanentError(errors.New("no such page")) // nothing is wrong with the backend
	})
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	_ = out.Encode(search.Status())
	// Output:
	// {
	//   "name": "search",
	//   "budget": {
	//     "available": 3.1
	//   },
	//   "breaker": {
	//     "state": "closed",
	//     "calls": 1,
	//     "failures": 0,
	//     "slow": 0,
	//     "consecutive": 0
	//   }
	// }
}

// A target is checked as a whole, and all its faults are told at once.
func ExampleTarget_Validate() {
	target := middleware.Standard("payments")
	target.Retry.MaxAttempts = -1
	target.Deadline = &deadline.Config{Total: deadline.DefaultTotal}
	target.Timeout = &timeout.Config{After: 2 * deadline.DefaultTotal}
	fmt.Println(target.Validate())
	// Output:
	// payments.retry.max_attempts: -1 is not allowed: must be at least 1, or 0 for the default of 3
	// payments.timeout.after: 20s is not allowed: must be at most deadline.total, which is 10s: an attempt cannot outlast its call
}
