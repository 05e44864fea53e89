package slogmw_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/slogmw"
	"github.com/backstay-go/backstay/retry"
)

// plain returns a logger that leaves out what differs from run to run.
func plain() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		Level: slog.LevelInfo,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "elapsed" {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// A pipeline logs what it mends.
func Example() {
	target := middleware.Standard("payments")
	target.Retry = &retry.Config{Base: retry.NoWait}
	payments, err := middleware.New(target, middleware.WithObserver(slogmw.New(plain())))
	if err != nil {
		fmt.Println(err)
		return
	}
	attempts := 0
	_, _ = middleware.Do(context.Background(), payments, func(context.Context) (int, error) {
		if attempts++; attempts == 1 {
			return 0, errors.New("connection reset")
		}
		return 0, nil
	})
	payments.Breaker().ForceOpen()
	_, _ = middleware.Do(context.Background(), payments, func(context.Context) (int, error) { return 0, nil })
	// Output:
	// level=INFO msg="retry planned" policy=payments attempt=1 outcome=transient error="connection reset"
	// level=WARN msg="breaker changed" policy=payments reason=manual from=closed to=forced-open
	// level=INFO msg="call rejected" policy=payments outcome=rejected reason=breaker_open error="breaker payments: held open by hand"
}

// Fallbacks matter here, nothing else does.
func ExampleWithLevel() {
	observer := slogmw.New(plain(), slogmw.WithLevel(func(e backstay.Event) slog.Level {
		if e.Kind == backstay.FallbackUsed {
			return slog.LevelError
		}
		return slog.LevelDebug
	}))
	observer.Observe(context.Background(), backstay.Event{Kind: backstay.FallbackUsed, Policy: "prices", Rung: "cached"})
	observer.Observe(context.Background(), backstay.Event{Kind: backstay.CallRejected, Policy: "prices"})
	// Output: level=ERROR msg="fallback used" policy=prices rung=cached
}
