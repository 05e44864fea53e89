package bench

import (
	"context"
	"testing"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/fallback"

	ours "github.com/backstay-go/backstay/fallback"
)

// BenchmarkFallback compares a value that stands in for a failed answer.
func BenchmarkFallback(b *testing.B) {
	compare(b, "unused", succeeds, bare(succeeding()), backstayFallback(succeeding()), failsafeFallback(succeeding()))
	compare(b, "used", succeeds, backstayFallback(failing()), failsafeFallback(failing()))
}

func backstayFallback(f backend) library {
	l := must(ours.New(ours.Config{}, ours.Rungs(ours.Value(7))))
	return library{name: "backstay", call: func(ctx context.Context) error {
		_, err := ours.Do(ctx, l, func(context.Context) (int, error) { return f() })
		return err
	}}
}

func failsafeFallback(f backend) library {
	executor := failsafe.With(fallback.NewWithResult(7))
	return library{name: "failsafe-go", call: func(ctx context.Context) error {
		_, err := executor.WithContext(ctx).Get(func() (int, error) { return f() })
		return err
	}}
}
