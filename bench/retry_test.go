package bench

import (
	"context"
	"errors"
	"testing"

	"github.com/cenkalti/backoff/v4"
	"github.com/eapache/go-resiliency/retrier"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/budget"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/retry"
)

// BenchmarkRetry compares retries of three attempts with no wait between them.
// goresilience is not among them: it cannot be told not to wait.
func BenchmarkRetry(b *testing.B) {
	compare(b, "success", succeeds, retries(succeeding)...)
	compareParallel(b, "success-parallel", succeeds, retries(succeeding)...)
	compare(b, "success-budget", succeeds, budgetedRetries(succeeding())...)
	compare(b, "third-succeeds", succeeds, retries(thirdSucceeds)[1:]...)
	compare(b, "exhausted", fails, retries(failing)...)
	compare(b, "not-retryable", fails, retries(refusing)...)
}

// thirdSucceeds fails twice, succeeds once, and so on.
func thirdSucceeds() backend {
	var n int
	return func() (int, error) {
		n++
		if n%3 != 0 {
			return 0, errBackend
		}
		return n, nil
	}
}

var errRefused = errors.New("backend refused")

// refusing returns an error that each library is told not to retry.
func refusing() backend {
	return func() (int, error) { return 0, errRefused }
}

func retries(f func() backend) []library {
	return []library{
		bare(f()),
		backstayRetry(false, f()),
		failsafeRetry(failsafeRetryPolicy().Build(), f()),
		eapacheRetry(f()),
		cenkaltiRetry(f()),
	}
}

func budgetedRetries(f backend) []library {
	return []library{
		bare(f),
		backstayRetry(true, f),
		failsafeRetry(failsafeRetryPolicy().WithBudget(budget.New()).Build(), f),
	}
}

func backstayRetry(budgeted bool, f backend) library {
	p := must(retry.New(backstayRetryConfig(budgeted)))
	return library{name: "backstay", call: func(ctx context.Context) error {
		_, err := retry.Do(ctx, p, func(context.Context) (int, error) {
			n, err := f()
			if err != nil && errors.Is(err, errRefused) {
				return n, backstay.PermanentError(err)
			}
			return n, err
		})
		return err
	}}
}

func backstayRetryConfig(budgeted bool) retry.Config {
	c := retry.Config{MaxAttempts: attempts, Base: retry.NoWait}
	if !budgeted {
		c.Budget = retry.NoBudget
	}
	return c
}

func failsafeRetryPolicy() retrypolicy.Builder[int] {
	return retrypolicy.NewBuilder[int]().WithMaxAttempts(attempts).AbortOnErrors(errRefused)
}

func failsafeRetry(p retrypolicy.RetryPolicy[int], f backend) library {
	executor := failsafe.With(p)
	return library{name: "failsafe-go", call: func(ctx context.Context) error {
		_, err := executor.WithContext(ctx).Get(func() (int, error) { return f() })
		return err
	}}
}

func eapacheRetry(f backend) library {
	r := retrier.New(retrier.ConstantBackoff(attempts-1, 0), retrier.BlacklistClassifier{errRefused})
	return library{name: "go-resiliency", call: func(ctx context.Context) error {
		return r.RunCtx(ctx, func(context.Context) error {
			_, err := f()
			return err
		})
	}}
}

func cenkaltiRetry(f backend) library {
	return library{name: "cenkalti-backoff", call: func(ctx context.Context) error {
		schedule := backoff.WithContext(backoff.WithMaxRetries(&backoff.ZeroBackOff{}, attempts-1), ctx)
		return backoff.Retry(func() error {
			_, err := f()
			if errors.Is(err, errRefused) {
				return backoff.Permanent(err)
			}
			return err
		}, schedule)
	}}
}
