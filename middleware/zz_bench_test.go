package middleware_test

import (
	"context"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

func BenchmarkZ(b *testing.B) {
	tg := middleware.Standard("x"); tg.Timeout = &timeout.Config{After: time.Hour}; tg.Deadline = &deadline.Config{Total: 2*time.Hour}; p, e := middleware.New(tg); if e != nil { b.Fatal(e) }
	ctx, c := context.WithTimeout(context.Background(), time.Hour/2)
	defer c()
	n := 0
	f := func(context.Context) (int, error) { n++; return n, nil }
	b.Run("now", func(b *testing.B) {
		for range b.N {
			backstay.Now()
		}
	})
	b.Run("all", func(b *testing.B) {
		for range b.N {
			middleware.Do(ctx, p, f)
		}
	})
	b.Run("all-timer", func(b *testing.B) {
		for range b.N {
			middleware.Do(context.Background(), p, f)
		}
	})
	r, _ := retry.New(retry.Config{})
	b.Run("retry", func(b *testing.B) {
		for range b.N {
			retry.Do(ctx, r, f)
		}
	})
	br, _ := breaker.New(breaker.Config{})
	b.Run("breaker", func(b *testing.B) {
		for range b.N {
			breaker.Do(ctx, br, f)
		}
	})
	bh, _ := bulkhead.New(bulkhead.Config{})
	b.Run("bulkhead", func(b *testing.B) {
		for range b.N {
			bulkhead.Do(ctx, bh, f)
		}
	})
	to, _ := timeout.New(timeout.Config{})
	b.Run("timeout", func(b *testing.B) {
		for range b.N {
			timeout.Do(ctx, to, f)
		}
	})
	dl, _ := deadline.New(deadline.Config{})
	b.Run("deadline", func(b *testing.B) {
		for range b.N {
			deadline.Do(ctx, dl, f)
		}
	})
}
