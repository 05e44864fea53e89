package middleware_test

import (
	"context"
	"testing"
	"time"

	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/timeout"
)

// BenchmarkDo makes calls that succeed at once, through the policies of the
// preset Standard: from one goroutine, and from one a processor.
func BenchmarkDo(b *testing.B) {
	target := middleware.Standard("bench")
	target.Deadline = &deadline.Config{Total: 24 * time.Hour}
	target.Timeout = &timeout.Config{After: 12 * time.Hour}
	silent, err := middleware.New(target)
	if err != nil {
		b.Fatal(err)
	}
	observed, err := middleware.New(target, middleware.WithObserver(silence))
	if err != nil {
		b.Fatal(err)
	}
	near, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		p    *middleware.Pipeline
	}{
		{"bounded by the caller", near, silent},
		{"bounded by us", context.Background(), silent},
		{"observed", near, observed},
	} {
		b.Run(c.name+"/serial", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = middleware.Do(c.ctx, c.p, succeeds)
			}
		})
		b.Run(c.name+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_, _ = middleware.Do(c.ctx, c.p, succeeds)
				}
			})
		})
	}
}
