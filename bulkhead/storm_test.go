package bulkhead_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
)

// The sequences of the model are played one operation at a time. Here they all
// happen at once.
func TestInAStormTheLimitHoldsAndNoCapacityIsLost(t *testing.T) {
	for name, c := range map[string]bulkhead.Config{
		"no queue":    {Limit: 4},
		"a queue":     {Limit: 4, MaxQueue: 3},
		"short waits": {Limit: 4, MaxQueue: 16, MaxWait: 20 * time.Microsecond},
		"priorities":  {Limit: 4, MaxQueue: 3, Priorities: &bulkhead.PriorityConfig{}},
	} {
		t.Run(name, func(t *testing.T) {
			b := must(bulkhead.New(c))
			s := storm{t: t, bulkhead: b, limit: c.Limit}
			var all sync.WaitGroup
			for i := range 16 {
				all.Go(func() { s.rage(rand.New(rand.NewPCG(uint64(i), 1))) })
			}
			all.Wait()
			wantIdle(t, b)
			if s.admitted.Load() == 0 {
				t.Error("nobody was admitted")
			}
		})
	}
}

type storm struct {
	t        *testing.T
	bulkhead *bulkhead.Bulkhead
	limit    int64
	inFlight atomic.Int64
	admitted atomic.Int64
}

func (s *storm) rage(random *rand.Rand) {
	for range 500 {
		ctx, cancel := context.WithCancel(bulkhead.WithPriority(s.t.Context(), bulkhead.Priority(random.IntN(3)-1)))
		weight := random.Int64N(3) + 1
		switch random.IntN(4) {
		case 0:
			if permit, ok := s.bulkhead.TryAcquire(ctx, weight); ok {
				s.hold(&permit, weight, random)
			}
		case 1:
			go cancel() // at any moment: before, in the queue, with the permit
			fallthrough
		default:
			if permit, err := s.bulkhead.Acquire(ctx, weight); err == nil {
				s.hold(&permit, weight, random)
			}
		}
		cancel()
	}
}

func (s *storm) hold(permit *bulkhead.Permit, weight int64, random *rand.Rand) {
	s.admitted.Add(1)
	if n := s.inFlight.Add(weight); n > s.limit {
		s.t.Errorf("%d in flight, the limit is %d", n, s.limit)
	}
	for range random.IntN(3) {
		runtime.Gosched()
	}
	s.inFlight.Add(-weight)
	permit.Release(backstay.Outcome{})
}

// Those who do nothing but take and give back meet at every instruction.
func TestTheLimitHoldsBetweenTwoInstructions(t *testing.T) {
	b := must(bulkhead.New(bulkhead.Config{Limit: 1}))
	ctx := t.Context()
	var inside atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 100_000 {
				permit, ok := b.TryAcquire(ctx, 1)
				if !ok {
					continue
				}
				n := inside.Add(1)
				for range 10 {
					n = max(n, inside.Load())
				}
				if n != 1 {
					t.Error("two at once under a limit of 1")
				}
				inside.Add(-1)
				permit.Release(backstay.Outcome{})
			}
		})
	}
	all.Wait()
	wantIdle(t, b)
}

// The permit comes back at some instruction of the one who comes to wait for it.
func TestAPermitThatComesBackWhileSomebodyJoinsIsNotLost(t *testing.T) {
	b := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: 1}))
	ctx := t.Context()
	var spin atomic.Int64
	for i := range 20_000 {
		held := acquire(t, b)
		done := make(chan ended, 1)
		go func() {
			permit, err := b.Acquire(ctx, 1)
			done <- ended{permit: &permit, err: err}
		}()
		for range i % 500 {
			spin.Add(1)
		}
		held.Release(backstay.Outcome{})
		select {
		case got := <-done:
			got.permit.Release(backstay.Outcome{})
		case <-time.After(10 * time.Second):
			t.Fatalf("round %d: forgotten; %d in flight, %d queued", i, b.InFlight(), b.Queued())
		}
	}
	wantIdle(t, b)
}
