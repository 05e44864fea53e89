package idempotencytest

import (
	"errors"
	"sync/atomic"

	"github.com/backstay-go/backstay/idempotency"
)

// contend lets many owners ask for key at once and returns the one that got it.
func (b *bench) contend(key string) idempotency.Claim {
	b.Helper()
	owners := make([]idempotency.Claim, b.Goroutines)
	var winner atomic.Pointer[idempotency.Claim]
	var winners, others atomic.Int32
	together(b.Goroutines, func(i int) {
		owners[i] = owner(key)
		got, err := b.store.Begin(b.Context(), owners[i], printA, long)
		switch {
		case err != nil:
			b.Errorf("Begin: %v", err)
		case got.State == idempotency.Started:
			winners.Add(1)
			winner.Store(&owners[i])
		case got.State == idempotency.InFlight:
			others.Add(1)
		}
	})
	if winners.Load() != 1 || int(others.Load()) != b.Goroutines-1 {
		b.Fatalf("of %d at once %d began and %d were told that it is in flight, want 1 and the rest",
			b.Goroutines, winners.Load(), others.Load())
	}
	return *winner.Load()
}

var concurrency = []testCase{
	{"of many at once exactly one begins", func(b *bench) {
		c := b.contend(idempotency.NewKey())
		b.complete(c, "answer", long)
		b.replays(c.Key, "answer")
	}},
	{"of many at once exactly one takes over from an owner that was killed", func(b *bench) {
		killed := b.started(b.Lease)
		b.passes(b.Lease)
		c := b.contend(killed.Key)
		b.isNotOwner(killed)
		b.complete(c, "answer", long)
	}},
	{"of many at once exactly one begins after a release", func(b *bench) {
		c := b.started(long)
		b.release(c)
		b.contend(c.Key)
	}},
	{"many who ask for different keys do not get in each other's way", func(b *bench) {
		together(b.Goroutines, func(int) {
			c := fresh()
			got, err := b.store.Begin(b.Context(), c, printA, long)
			err = errors.Join(err,
				b.store.Renew(b.Context(), c, long),
				b.store.Complete(b.Context(), c, idempotency.Record{Answer: []byte(c.Key)}, long))
			if err != nil || got.State != idempotency.Started {
				b.Errorf("%v, %v", got.State, err)
			}
			got, err = b.store.Begin(b.Context(), owner(c.Key), printA, long)
			if err != nil || string(got.Record.Answer) != c.Key {
				b.Errorf("%v %q, %v, want the answer of its own", got.State, got.Record.Answer, err)
			}
		})
	}},
	{"of an owner's Complete and Release at once exactly one counts", func(b *bench) {
		for range 20 {
			c := b.started(long)
			var done, freed error
			together(2, func(i int) {
				if i == 0 {
					done = b.store.Complete(b.Context(), c, idempotency.Record{Answer: []byte("answer")}, long)
				} else {
					freed = b.store.Release(b.Context(), c)
				}
			})
			switch {
			case done == nil && errors.Is(freed, idempotency.ErrLeaseLost):
				b.replays(c.Key, "answer")
			case freed == nil && errors.Is(done, idempotency.ErrLeaseLost):
				b.isFree(c.Key)
			default:
				b.Fatalf("Complete: %v, Release: %v, want one to succeed", done, freed)
			}
		}
	}},
	{"a replay that races with completion is in flight or whole", func(b *bench) {
		c, answer := b.started(long), random()
		together(b.Goroutines/4+2, func(i int) {
			if i == 0 {
				b.complete(c, answer, long)
				return
			}
			got, err := b.store.Begin(b.Context(), owner(c.Key), printA, long)
			whole := got.State == idempotency.Completed && string(got.Record.Answer) == answer
			if err != nil || !whole && got.State != idempotency.InFlight {
				b.Errorf("%v with %d bytes, %v", got.State, len(got.Record.Answer), err)
			}
		})
	}},
}
