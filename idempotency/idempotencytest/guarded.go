package idempotencytest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay/idempotency"
)

// polled hides that a store is a Waiter.
type polled struct{ idempotency.Store }

// guards are a guard that waits as the store can, and one that polls.
func (b *bench) guards(f func(g *idempotency.Guard)) {
	b.Helper()
	for _, store := range []idempotency.Store{b.store, polled{b.store}} {
		g, err := idempotency.NewGuard(idempotency.GuardConfig{Lease: b.Lease, Poll: 20 * time.Millisecond}, store)
		if err != nil {
			b.Fatal(err)
		}
		f(g)
	}
}

// slowly is work that takes d.
func slowly(d time.Duration, runs *atomic.Int32) func(context.Context) (idempotency.Answer, error) {
	return func(context.Context) (idempotency.Answer, error) {
		runs.Add(1)
		time.Sleep(d)
		return idempotency.Answer{Data: []byte("answer")}, nil
	}
}

// oneAnswer lets many ask a guard at once and wants one run of the work.
func (b *bench) oneAnswer(g *idempotency.Guard, takes time.Duration) {
	b.Helper()
	var runs, replays atomic.Int32
	request := idempotency.Request{Key: idempotency.NewKey(), Fingerprint: printA}
	n := b.Goroutines/10 + 2
	together(n, func(int) {
		got, replayed, err := g.Run(b.Context(), request, slowly(takes, &runs))
		if err != nil || string(got.Data) != "answer" {
			b.Errorf("Run: %q, %v", got.Data, err)
		}
		if replayed {
			replays.Add(1)
		}
	})
	if runs.Load() != 1 || int(replays.Load()) != n-1 {
		b.Errorf("the work ran %d times and was replayed %d times, want 1 and %d", runs.Load(), replays.Load(), n-1)
	}
}

var guarded = []testCase{
	{"under a guard many get the answer of one", func(b *bench) {
		b.guards(func(g *idempotency.Guard) { b.oneAnswer(g, 10*time.Millisecond) })
	}},
	{"under a guard work may last longer than the lease", func(b *bench) {
		b.guards(func(g *idempotency.Guard) { b.oneAnswer(g, 2*b.Lease) })
	}},
	{"under a guard work that fails is done by the next in line", func(b *bench) {
		b.guards(func(g *idempotency.Guard) {
			failure := errors.New("failed")
			var runs atomic.Int32
			request := idempotency.Request{Key: idempotency.NewKey(), Fingerprint: printA}
			together(3, func(int) {
				_, _, err := g.Run(b.Context(), request, func(context.Context) (idempotency.Answer, error) {
					if runs.Add(1) == 1 {
						time.Sleep(5 * time.Millisecond)
						return idempotency.Answer{}, failure
					}
					return idempotency.Answer{}, nil
				})
				if err != nil && !errors.Is(err, failure) {
					b.Errorf("Run: %v", err)
				}
			})
			if runs.Load() != 2 {
				b.Errorf("the work ran %d times, want 2", runs.Load())
			}
		})
	}},
	{"under a guard the work of an owner that was killed is done after the lease", func(b *bench) {
		b.guards(func(g *idempotency.Guard) {
			request := idempotency.Request{Key: idempotency.NewKey(), Fingerprint: printA}
			killed := owner(idempotency.Derive(request.Key))
			b.begin(killed, printA, b.Lease, idempotency.Started)
			ended := make(chan error)
			go func() {
				_, _, err := g.Run(b.Context(), request, slowly(0, new(atomic.Int32)))
				ended <- err
			}()
			b.passes(b.Lease)
			if err := <-ended; err != nil {
				b.Errorf("Run: %v", err)
			}
			b.isNotOwner(killed)
			b.replays(killed.Key, "answer")
		})
	}},
}
