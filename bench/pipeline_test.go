package bench

import (
	"context"
	"errors"
	"testing"

	"github.com/afex/hystrix-go/hystrix"
	"github.com/cenkalti/backoff/v4"
	"github.com/eapache/go-resiliency/retrier"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/budget"
	fsbulkhead "github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	fstimeout "github.com/failsafe-go/failsafe-go/timeout"
	"github.com/sony/gobreaker/v2"
	"golang.org/x/sync/semaphore"

	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/timeout"
)

// BenchmarkPipeline compares the whole stack around a function: a bound for
// the call, retry with a budget, breaker, bulkhead, and a timeout for each
// attempt, where the library has them. "watched" is a backend that looks at
// its context; "bounded" one whose caller has a nearer deadline of its own, so
// that a library may leave out its timer; in "third-succeeds" two attempts
// fail and nobody waits.
func BenchmarkPipeline(b *testing.B) {
	b.Cleanup(hystrix.Flush)
	compare(b, "watched", succeeds, stacks(watching)...)
	within(b, "bounded", succeeds, stacks(watching)...)
	compareParallel(b, "watched-parallel", succeeds, stacks(watching)...)
	within(b, "third-succeeds", succeeds, unbudgetedStacks()...)
}

func stacks(f handler) []library {
	return []library{
		bareHandler(f),
		backstayStack(true, f),
		failsafeStack(true, f),
		cep21Stack(f),
		handmadeStack(f),
		hystrixStack(f),
	}
}

// unbudgetedStacks have no budget, which so many retries would drain.
func unbudgetedStacks() []library {
	return []library{
		backstayStack(false, everyThird()),
		failsafeStack(false, everyThird()),
		cep21Stack(everyThird()),
		handmadeStack(everyThird()),
	}
}

func everyThird() handler {
	f := thirdSucceeds()
	return func(context.Context) (int, error) { return f() }
}

func backstayStack(budgeted bool, f handler) library {
	p := must(middleware.New(backstayTarget(budgeted)))
	return library{name: "backstay", call: func(ctx context.Context) error {
		_, err := middleware.Do(ctx, p, func(ctx context.Context) (int, error) { return f(ctx) })
		return err
	}}
}

func backstayTarget(budgeted bool) middleware.Target {
	again, trips := backstayRetryConfig(budgeted), countWindow
	return middleware.Target{Config: middleware.Config{
		Deadline: &deadline.Config{Total: totalTimeout},
		Retry:    &again,
		Breaker:  &trips,
		Bulkhead: &bulkhead.Config{Limit: limit},
		Timeout:  &timeout.Config{After: attemptTimeout},
	}}
}

// failsafeStack bounds the call by its retry policy, which costs it no timer.
func failsafeStack(budgeted bool, f handler) library {
	executor := failsafe.With(failsafePolicies(failsafeRetryOf(retrypolicy.NewBuilder[int](), budgeted))...)
	return library{name: "failsafe-go", call: func(ctx context.Context) error {
		_, err := executor.WithContext(ctx).GetWithExecution(func(e failsafe.Execution[int]) (int, error) {
			return f(e.Context())
		})
		return err
	}}
}

func failsafeRetryOf[R any](r retrypolicy.Builder[R], budgeted bool) retrypolicy.Builder[R] {
	r = r.WithMaxAttempts(attempts).WithMaxDuration(totalTimeout)
	if budgeted {
		r = r.WithBudget(budget.NewBuilder().WithMaxRate(.1).Build())
	}
	return r
}

func failsafePolicies[R any](r retrypolicy.Builder[R]) []failsafe.Policy[R] {
	return []failsafe.Policy[R]{
		r.Build(),
		circuitbreaker.NewBuilder[R]().WithFailureThresholdRatio(18, 20).WithDelay(openFor).Build(),
		fsbulkhead.New[R](limit),
		fstimeout.New[R](attemptTimeout),
	}
}

// cep21Stack is cep21/circuit, which has breaker, limit and timeout in one,
// under the loop that its users write by hand.
func cep21Stack(f handler) library {
	c := cep21Circuit(attemptTimeout)
	return library{name: "cep21-circuit", call: func(ctx context.Context) error {
		return byHand(ctx, func(ctx context.Context) error {
			return c.Run(ctx, func(ctx context.Context) error {
				_, err := f(ctx)
				return err
			})
		})
	}}
}

// byHand is a retry as it stands in many programs.
func byHand(ctx context.Context, f func(context.Context) error) (err error) {
	for range attempts {
		if err = f(ctx); err == nil || ctx.Err() != nil || errors.Is(err, errRefused) {
			return err
		}
	}
	return err
}

// handmadeStack joins the libraries that Backstay itself builds on.
func handmadeStack(f handler) library {
	cb := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{Timeout: openFor, ReadyToTrip: func(c gobreaker.Counts) bool {
		return c.Requests >= 20 && c.TotalFailures*10 >= c.Requests*9
	}})
	sem := semaphore.NewWeighted(limit)
	attempt := func(ctx context.Context) (int, error) {
		if !sem.TryAcquire(1) {
			return 0, errFull
		}
		defer sem.Release(1)
		ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
		defer cancel()
		return f(ctx)
	}
	return library{name: "by-hand", call: func(ctx context.Context) error {
		schedule := backoff.WithContext(backoff.WithMaxRetries(&backoff.ZeroBackOff{}, attempts-1), ctx)
		_, err := backoff.RetryWithData(func() (int, error) {
			return cb.Execute(func() (int, error) { return attempt(ctx) })
		}, schedule)
		return err
	}}
}

// hystrixStack is hystrix-go under the retrier of go-resiliency.
func hystrixStack(f handler) library {
	command := hystrixCommand()
	r := retrier.New(retrier.ConstantBackoff(attempts-1, 0), nil)
	return library{name: "hystrix-go", call: func(ctx context.Context) error {
		return r.RunCtx(ctx, func(ctx context.Context) error {
			return hystrix.DoC(ctx, command, func(ctx context.Context) error {
				_, err := f(ctx)
				return err
			}, nil)
		})
	}}
}
