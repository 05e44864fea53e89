package idempotencytest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/backstay-go/backstay/idempotency"
)

// waiter returns the store as a Waiter, or skips the case.
func (b *bench) waiter() idempotency.Waiter {
	w, ok := b.store.(idempotency.Waiter)
	if !ok {
		b.Skip("the store is no Waiter: guards poll it")
	}
	return w
}

// wakes wants those who wait for key to be woken by what happens, and not
// before.
func (b *bench) wakes(key string, happens func()) {
	b.Helper()
	w := b.waiter()
	ctx, cancel := context.WithTimeout(b.Context(), long)
	defer cancel()
	var all sync.WaitGroup
	for range b.Goroutines / 10 {
		all.Go(func() {
			for { // to return early is allowed
				if err := w.Wait(ctx, key); err != nil {
					b.Errorf("Wait: %v", err)
					return
				}
				got, err := b.store.Begin(ctx, owner(key), printA, long)
				if err != nil || got.State != idempotency.InFlight {
					return
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	time.Sleep(5 * time.Millisecond) // most of them wait by now
	happens()
	all.Wait()
}

var waiting = []testCase{
	{"those who wait wake when the work is completed", func(b *bench) {
		c := b.started(long)
		b.wakes(c.Key, func() { b.complete(c, "answer", long) })
	}},
	{"those who wait wake when the key is released", func(b *bench) {
		b.waiter()
		c := b.started(long)
		ended := make(chan error)
		go func() { ended <- b.waiter().Wait(b.Context(), c.Key) }()
		time.Sleep(5 * time.Millisecond)
		b.release(c)
		if err := <-ended; err != nil {
			b.Errorf("Wait: %v", err)
		}
	}},
	{"those who wait wake when the lease passes", func(b *bench) {
		w, c := b.waiter(), b.started(b.Lease)
		ended := make(chan error)
		go func() { ended <- w.Wait(b.Context(), c.Key) }()
		time.Sleep(5 * time.Millisecond)
		b.passes(b.Lease)
		if err := <-ended; err != nil {
			b.Errorf("Wait: %v", err)
		}
		b.isFree(c.Key)
	}},
	{"nobody waits for a key that is not in flight", func(b *bench) {
		w := b.waiter()
		released, completed := b.started(long), b.completed("answer", long)
		b.release(released)
		ctx, cancel := context.WithTimeout(b.Context(), long)
		defer cancel()
		for name, key := range map[string]string{
			"never begun": fresh().Key, "released": released.Key, "completed": completed.Key,
		} {
			if err := w.Wait(ctx, key); err != nil {
				b.Errorf("Wait for a key that is %s: %v", name, err)
			}
		}
	}},
	{"a wait ends with its context", func(b *bench) {
		w, c := b.waiter(), b.started(long)
		ctx, cancel := context.WithTimeout(b.Context(), 5*time.Millisecond)
		defer cancel()
		for {
			if err := w.Wait(ctx, c.Key); errors.Is(err, context.DeadlineExceeded) {
				return
			} else if err != nil {
				b.Fatalf("Wait: %v, want context.DeadlineExceeded", err)
			}
			time.Sleep(time.Millisecond)
		}
	}},
}
