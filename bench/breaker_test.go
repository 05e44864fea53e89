package bench

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/afex/hystrix-go/hystrix"
	"github.com/cep21/circuit/v4"
	closer "github.com/cep21/circuit/v4/closers/hystrix"
	eapache "github.com/eapache/go-resiliency/breaker"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	slok "github.com/slok/goresilience/circuitbreaker"
	"github.com/sony/gobreaker/v2"

	"github.com/backstay-go/backstay/breaker"
)

// BenchmarkBreaker compares circuit breakers that trip when nine in ten calls
// fail, and stay open for an hour.
func BenchmarkBreaker(b *testing.B) {
	b.Cleanup(hystrix.Flush)
	compare(b, "closed", succeeds, breakers(succeeding)...)
	compareParallel(b, "closed-parallel", succeeds, breakers(succeeding)...)
	compare(b, "every-second-fails", reached, without("go-resiliency", breakers(alternating))...)
	compare(b, "time-window", succeeds, timeWindowBreakers()...)
	compare(b, "slow-rule", succeeds, bare(succeeding()), backstayBreaker(slowRule, succeeding()))
	compare(b, "open", refused, append(tripped(breakers(failing)), openError())...)
	compareParallel(b, "open-parallel", refused, tripped(breakers(failing))...)
}

// backend is what is called: it captures something, so that a library which
// moves its caller's closure to the heap shows it.
type backend func() (int, error)

func succeeding() backend {
	return func() (int, error) { return 1, nil }
}

func failing() backend {
	return func() (int, error) { return 0, errBackend }
}

func alternating() backend {
	var n int
	return func() (int, error) {
		n++
		if n%2 == 0 {
			return 0, errBackend
		}
		return n, nil
	}
}

func bare(f backend) library {
	return library{name: "bare", call: func(context.Context) error {
		_, err := f()
		return err
	}}
}

func breakers(f func() backend) []library {
	return []library{
		bare(f()),
		backstayBreaker(countWindow, f()),
		gobreakerBreaker(gobreaker.Settings{}, f()),
		failsafeBreaker(circuitbreaker.NewBuilder[int]().WithFailureThresholdRatio(18, 20), f()),
		cep21Breaker(f()),
		eapacheBreaker(f()),
		hystrixBreaker(f()),
		goresilienceBreaker(f()),
	}
}

func timeWindowBreakers() []library {
	return []library{
		bare(succeeding()),
		backstayBreaker(timeWindow, succeeding()),
		gobreakerBreaker(gobreaker.Settings{Interval: 10 * time.Second, BucketPeriod: time.Second}, succeeding()),
		failsafeBreaker(circuitbreaker.NewBuilder[int]().WithFailureRateThreshold(.9, 20, 10*time.Second), succeeding()),
	}
}

// tripped calls each library but the bare one until it refuses.
func tripped(libraries []library) []library {
	for _, l := range libraries[1:] {
		for n := 0; !refused(l.call(context.Background())); n++ {
			if n == 10_000 {
				panic(l.name + " does not trip")
			}
		}
	}
	return libraries[1:]
}

// The settings of a breaker of Backstay's: how it counts.
var (
	countWindow = breaker.Config{FailureRatio: .9, MinCalls: 20, OpenFor: openFor}
	timeWindow  = breaker.Config{FailureRatio: .9, MinCalls: 20, OpenFor: openFor, TimeWindow: 10 * time.Second}
	slowRule    = breaker.Config{FailureRatio: .9, MinCalls: 20, OpenFor: openFor, SlowAfter: time.Minute, SlowRatio: .9}
)

func backstayBreaker(c breaker.Config, f backend) library {
	p := must(breaker.New(c))
	return library{name: "backstay", call: func(ctx context.Context) error {
		_, err := breaker.Do(ctx, p, func(context.Context) (int, error) { return f() })
		return err
	}}
}

// openError is what the error of a rejection costs alone.
func openError() library {
	return library{name: "its-error", call: func(context.Context) error {
		return &breaker.OpenError{RetryAfter: openFor, State: breaker.Open}
	}}
}

func gobreakerBreaker(s gobreaker.Settings, f backend) library {
	s.Timeout = openFor
	s.ReadyToTrip = func(c gobreaker.Counts) bool {
		return c.Requests >= 20 && c.TotalFailures*10 >= c.Requests*9
	}
	cb := gobreaker.NewCircuitBreaker[int](s)
	return library{name: "gobreaker", call: func(context.Context) error {
		_, err := cb.Execute(func() (int, error) { return f() })
		return err
	}}
}

func failsafeBreaker(c circuitbreaker.Builder[int], f backend) library {
	executor := failsafe.With(c.WithDelay(openFor).Build())
	return library{name: "failsafe-go", call: func(ctx context.Context) error {
		_, err := executor.WithContext(ctx).Get(func() (int, error) { return f() })
		return err
	}}
}

// cep21Breaker is cep21/circuit without its timeout.
func cep21Breaker(f backend) library {
	c := cep21Circuit(-1)
	return library{name: "cep21-circuit", call: func(ctx context.Context) error {
		return c.Run(ctx, func(context.Context) error {
			_, err := f()
			return err
		})
	}}
}

func cep21Circuit(timeout time.Duration) *circuit.Circuit {
	return circuit.NewCircuitFromConfig("bench", circuit.Config{
		General: circuit.GeneralConfig{
			ClosedToOpenFactory: closer.OpenerFactory(closer.ConfigureOpener{ErrorThresholdPercentage: 90}),
			OpenToClosedFactory: closer.CloserFactory(closer.ConfigureCloser{SleepWindow: openFor}),
		},
		Execution: circuit.ExecutionConfig{Timeout: timeout, MaxConcurrentRequests: limit},
	})
}

// eapacheBreaker counts failures, whatever succeeds between them: it would trip
// where every second call fails.
func eapacheBreaker(f backend) library {
	cb := eapache.New(20, 1, openFor)
	return library{name: "go-resiliency", call: func(context.Context) error {
		return cb.Run(func() error {
			_, err := f()
			return err
		})
	}}
}

// hystrixBreaker is never without a timeout and a limit.
func hystrixBreaker(f backend) library {
	command := hystrixCommand()
	return library{name: "hystrix-go", call: func(ctx context.Context) error {
		return hystrix.DoC(ctx, command, func(context.Context) error {
			_, err := f()
			return err
		}, nil)
	}}
}

var hystrixCommands atomic.Int64

// hystrixCommand configures a new command. Its limit is high because permits
// come back some time after their call.
func hystrixCommand() string {
	name := "bench-" + strconv.FormatInt(hystrixCommands.Add(1), 10)
	hystrix.ConfigureCommand(name, hystrix.CommandConfig{
		Timeout: int(attemptTimeout.Milliseconds()), MaxConcurrentRequests: 10_000,
		ErrorPercentThreshold: 90, SleepWindow: int(openFor.Milliseconds()),
	})
	return name
}

// goresilienceBreaker reads the percentage, too, from MinimumRequestToOpen.
func goresilienceBreaker(f backend) library {
	runner := slok.New(slok.Config{MinimumRequestToOpen: 90, WaitDurationInOpenState: openFor})
	return library{name: "goresilience", call: func(ctx context.Context) error {
		return runner.Run(ctx, func(context.Context) error {
			_, err := f()
			return err
		})
	}}
}
