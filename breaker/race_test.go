package breaker_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
)

// TestManyGoroutinesThroughOutages lets callers, probes and an operator meet at
// the same instants, and checks what must hold whatever the order.
func TestManyGoroutinesThroughOutages(t *testing.T) {
	for name, c := range map[string]breaker.Config{
		"calls":      {},
		"many calls": {Window: 100},
		"time":       {TimeWindow: time.Second},
		"slow calls": {SlowAfter: 20 * time.Millisecond, SlowRatio: 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.OpenFor, c.Probes, c.ProbeLease = 50*time.Millisecond, 3, time.Second
				outages(t, c)
			})
		})
	}
}

func outages(t *testing.T, c breaker.Config) {
	t.Helper()
	b, l := newBreaker(t, c)
	var down atomic.Bool
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() { caller(t.Context(), b, &down, rand.New(rand.NewPCG(1, uint64(i)))) })
	}
	all.Go(func() {
		for i := range 10 {
			time.Sleep(time.Second)
			down.Store(i%2 == 0)
			if i == 7 {
				b.ForceClosed()
				b.Reset()
			}
		}
	})
	all.Wait()
	time.Sleep(2 * time.Minute)
	for range 3 {
		_ = call(t.Context(), b, nil)
	}
	wantState(t, b, breaker.Closed)
	chain(t, l)
}

// caller makes calls for 10 s of virtual time.
func caller(ctx context.Context, b *breaker.Breaker, down *atomic.Bool, random *rand.Rand) {
	end := backstay.Now().Add(10 * time.Second)
	for backstay.Now() < end {
		work, cancel := context.WithTimeout(ctx, time.Duration(random.IntN(200))*time.Millisecond)
		_, _ = breaker.Do(work, b, func(ctx context.Context) (int, error) {
			select {
			case <-ctx.Done():
				return 0, ctx.Err()
			case <-time.After(time.Duration(random.IntN(30)) * time.Millisecond):
			}
			if down.Load() {
				return 0, errBackend
			}
			return 0, nil
		})
		cancel()
		time.Sleep(time.Duration(random.IntN(10)) * time.Millisecond)
	}
}

// chain checks that there was an outage, and that as many changes led into
// each state as out of it: two events of one change would break that.
func chain(t *testing.T, l *log) {
	t.Helper()
	changes := l.of(backstay.BreakerChanged)
	if len(changes) < 4 {
		t.Errorf("only %d changes", len(changes))
	}
	balance := map[string]int{}
	for _, e := range changes {
		balance[e.From]--
		balance[e.To]++
	}
	for state, n := range balance {
		if n != 0 {
			t.Errorf("%+d changes into %s: %q", n, state, l.changes())
		}
	}
}

func TestHalfOpenNeverHasMoreThanItsProbesUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBreaker(t, breaker.Config{Consecutive: 1, OpenFor: 10 * time.Millisecond, MaxOpenFor: 10 * time.Millisecond, Probes: 2})
		_ = call(t.Context(), b, errBackend)
		var under, most atomic.Int64
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				random := rand.New(rand.NewPCG(2, uint64(i)))
				for range 200 {
					ctx, cancel := context.WithCancel(t.Context())
					_, err := breaker.Do(ctx, b, func(context.Context) (int, error) {
						if n := under.Add(1); n > most.Load() {
							most.Store(n)
						}
						time.Sleep(time.Duration(random.IntN(5)) * time.Millisecond)
						under.Add(-1)
						if random.IntN(3) > 0 {
							cancel()
							return 0, ctx.Err()
						}
						return 0, errBackend
					})
					cancel()
					if errors.Is(err, breaker.ErrOpen) {
						time.Sleep(time.Duration(random.IntN(5)) * time.Millisecond)
					}
				}
			})
		}
		all.Wait()
		if n := most.Load(); n != 2 { // openings outlast the probes of those before
			t.Errorf("up to %d calls were under way, want 2", n)
		}
	})
}

func TestCallsThatEndTogetherAreAllCounted(t *testing.T) {
	const workers, each = 2, 30
	for range 2000 {
		b := must(breaker.New(breaker.Config{Window: workers * each, FailureRatio: 1}))
		together(workers, func() {
			for i := range each {
				pass := must(b.Allow(t.Context()))
				pass.Done(t.Context(), []backstay.Outcome{success, failure, success}[i%3], 0)
			}
		})
		if c := b.Counts(); c.Calls != workers*each || c.Failures != workers*each/3 {
			t.Fatalf("counts %+v, want %d calls and %d failures", c, workers*each, workers*each/3)
		}
	}
}

func TestFailuresThatEndTogetherOpenTheBreakerOnce(t *testing.T) {
	for range 300 {
		b, l := newBreaker(t, breaker.Config{Consecutive: 1})
		passes := make(chan breaker.Pass, 4)
		for range cap(passes) {
			passes <- must(b.Allow(t.Context()))
		}
		together(cap(passes), func() { (<-passes).Done(t.Context(), failure, 0) })
		if changes := l.changes(); len(changes) != 1 {
			t.Fatalf("changes %q, want one", changes)
		}
	}
}

// together runs f on n goroutines that begin at the same moment, as nearly as
// there are processors.
func together(n int, f func()) {
	var ready atomic.Int64
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ready.Add(1); ready.Load() < int64(n); {
				runtime.Gosched()
			}
			f()
		})
	}
	all.Wait()
}
