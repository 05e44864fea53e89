package bench

import (
	"context"
	"errors"
	"testing"
	"time"

	eapache "github.com/eapache/go-resiliency/semaphore"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	slok "github.com/slok/goresilience/bulkhead"
	"golang.org/x/sync/semaphore"

	ours "github.com/backstay-go/backstay/bulkhead"
)

// BenchmarkBulkhead compares limits on how many calls run at once, without a
// queue. Three are not asked to refuse, because they wait before they do.
func BenchmarkBulkhead(b *testing.B) {
	compare(b, "free", succeeds, append(refusingBulkheads(limit, succeeding()), waitingBulkheads(b, succeeding())...)...)
	compareParallel(b, "free-parallel", succeeds, append(refusingBulkheads(limit, succeeding()), waitingBulkheads(b, succeeding())...)...)
	b.Run("full", func(b *testing.B) {
		held := occupation{began: make(chan struct{}), end: make(chan struct{})}
		for _, l := range refusingBulkheads(1, held.backend)[1:] {
			b.Run(l.name, func(b *testing.B) { held.measure(b, l) })
		}
	})
}

func refusingBulkheads(permits int, f backend) []library {
	return []library{
		bare(f),
		backstayBulkhead(permits, f),
		tryingSemaphore(permits, f),
		failsafeBulkhead(permits, f),
	}
}

func waitingBulkheads(b *testing.B, f backend) []library {
	b.Helper()
	return []library{waitingSemaphore(f), eapacheBulkhead(f), goresilienceBulkhead(b, f)}
}

// occupation is a call that holds a permit while others are measured.
type occupation struct{ began, end chan struct{} }

func (o *occupation) backend() (int, error) {
	o.began <- struct{}{}
	<-o.end
	return 1, nil
}

func (o *occupation) measure(b *testing.B, l library) {
	b.Helper()
	left := make(chan error, 1)
	go func() { left <- l.call(context.Background()) }()
	<-o.began
	measure(b, b.Context(), l, refused)
	o.end <- struct{}{}
	if err := <-left; err != nil {
		b.Fatal(err)
	}
}

var errFull = errors.New("full")

// tryingSemaphore is a bare semaphore that looks at no context.
func tryingSemaphore(permits int, f backend) library {
	sem := semaphore.NewWeighted(int64(permits))
	return library{name: "semaphore-try", call: func(context.Context) error {
		if !sem.TryAcquire(1) {
			return errFull
		}
		defer sem.Release(1)
		_, err := f()
		return err
	}}
}

func backstayBulkhead(permits int, f backend) library {
	p := must(ours.New(ours.Config{Limit: int64(permits)}))
	return library{name: "backstay", call: func(ctx context.Context) error {
		_, err := ours.Do(ctx, p, func(context.Context) (int, error) { return f() })
		return err
	}}
}

// waitingSemaphore is a bare semaphore as a caller with a context uses it:
// what a bulkhead cannot do without.
func waitingSemaphore(f backend) library {
	sem := semaphore.NewWeighted(limit)
	return library{name: "semaphore", call: func(ctx context.Context) error {
		if err := sem.Acquire(ctx, 1); err != nil {
			return err
		}
		defer sem.Release(1)
		_, err := f()
		return err
	}}
}

func failsafeBulkhead(permits int, f backend) library {
	executor := failsafe.With(bulkhead.New[int](uint(permits)))
	return library{name: "failsafe-go", call: func(ctx context.Context) error {
		_, err := executor.WithContext(ctx).Get(func() (int, error) { return f() })
		return err
	}}
}

func eapacheBulkhead(f backend) library {
	sem := eapache.New(limit, time.Second)
	return library{name: "go-resiliency", call: func(context.Context) error {
		if err := sem.Acquire(); err != nil {
			return err
		}
		defer sem.Release()
		_, err := f()
		return err
	}}
}

func goresilienceBulkhead(b *testing.B, f backend) library {
	b.Helper()
	stop := make(chan struct{})
	b.Cleanup(func() { close(stop) })
	runner := slok.New(slok.Config{Workers: limit, StopC: stop})
	return library{name: "goresilience", call: func(ctx context.Context) error {
		return runner.Run(ctx, func(context.Context) error {
			_, err := f()
			return err
		})
	}}
}
