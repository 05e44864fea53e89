package bench

import (
	"context"
	"testing"

	eapache "github.com/eapache/go-resiliency/deadline"
	"github.com/failsafe-go/failsafe-go"
	fstimeout "github.com/failsafe-go/failsafe-go/timeout"

	"github.com/backstay-go/backstay/timeout"
)

// BenchmarkTimeout compares limits on how long one attempt takes. "watched" is
// a backend that looks at its context, as a transport does; "unwatched" one
// that does not; "bounded" one whose caller has a nearer deadline of its own.
// goresilience is not among them: its timeout never cancels the context that
// it makes, so that the next library pays for its timers. hystrix-go has no
// timeout without the rest; it is in BenchmarkPipeline.
func BenchmarkTimeout(b *testing.B) {
	compare(b, "watched", succeeds, timeouts(watching)...)
	compare(b, "unwatched", succeeds, timeouts(ignoring)...)
	within(b, "bounded", succeeds, timeouts(watching)...)
}

// handler is a backend that is given a context.
type handler func(context.Context) (int, error)

// watching asks its context whether it is done, as everything does that can be
// interrupted.
func watching(ctx context.Context) (int, error) {
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	default:
		return 1, nil
	}
}

func ignoring(context.Context) (int, error) { return 1, nil }

func timeouts(f handler) []library {
	return []library{
		bareHandler(f),
		backstayTimeout(f),
		{name: "context", call: func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
			defer cancel()
			_, err := f(ctx)
			return err
		}},
		failsafeTimeout(f),
		eapacheTimeout(f),
	}
}

func bareHandler(f handler) library {
	return library{name: "bare", call: func(ctx context.Context) error {
		_, err := f(ctx)
		return err
	}}
}

func backstayTimeout(f handler) library {
	p := must(timeout.New(timeout.Config{After: attemptTimeout}))
	return library{name: "backstay", call: func(ctx context.Context) error {
		_, err := timeout.Do(ctx, p, func(ctx context.Context) (int, error) { return f(ctx) })
		return err
	}}
}

func failsafeTimeout(f handler) library {
	executor := failsafe.With(fstimeout.New[int](attemptTimeout))
	return library{name: "failsafe-go", call: func(ctx context.Context) error {
		_, err := executor.WithContext(ctx).GetWithExecution(func(e failsafe.Execution[int]) (int, error) {
			return f(e.Context())
		})
		return err
	}}
}

// eapacheTimeout hands its own channel to the callee instead of a context.
func eapacheTimeout(f handler) library {
	d := eapache.New(attemptTimeout)
	return library{name: "go-resiliency", call: func(ctx context.Context) error {
		return d.Run(func(<-chan struct{}) error {
			_, err := f(ctx)
			return err
		})
	}}
}
