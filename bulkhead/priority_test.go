package bulkhead_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
)

// as returns a context of each priority.
func as(t *testing.T) (critical, ordinary, sheddable context.Context) {
	t.Helper()
	return bulkhead.WithPriority(t.Context(), bulkhead.Critical), t.Context(), bulkhead.WithPriority(t.Context(), bulkhead.Sheddable)
}

func TestLowerPrioritiesAreShedFirst(t *testing.T) {
	b := must(bulkhead.New(bulkhead.Config{Limit: 10, Priorities: &bulkhead.PriorityConfig{}}))
	critical, ordinary, sheddable := as(t)
	admitted := func(ctx context.Context) (n int) {
		for {
			if _, ok := b.TryAcquire(ctx, 1); !ok {
				return n
			}
			n++
		}
	}
	if n := admitted(sheddable); n != 7 {
		t.Errorf("%d sheddable calls, want 7", n)
	}
	if n := admitted(ordinary); n != 2 || !b.Saturated() {
		t.Errorf("%d ordinary calls beside them, want 2; saturated %v", n, b.Saturated())
	}
	if n := admitted(critical); n != 1 {
		t.Errorf("%d critical calls beside them, want 1", n)
	}
}

func TestHigherPrioritiesAreServedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: 9, Priorities: &bulkhead.PriorityConfig{}}))
		critical, ordinary, sheddable := as(t)
		permit := acquire(t, b)
		late := queued(sheddable, t, b, 1)
		middle := queued(ordinary, t, b, 1)
		first, second := queued(critical, t, b, 1), queued(critical, t, b, 1)
		for i, w := range []<-chan ended{first, second, middle, late} {
			permit.Release(backstay.Outcome{})
			synctest.Wait()
			if len(w) != 1 {
				t.Fatalf("number %d was not next", i)
			}
			permit = (<-w).permit
		}
		permit.Release(backstay.Outcome{})
		wantIdle(t, b)
	})
}

func TestACriticalCallPassesWaitersThatMayNotHaveItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 10, MaxQueue: 9, Priorities: &bulkhead.PriorityConfig{}}))
		critical, ordinary, sheddable := as(t)
		held := must(b.Acquire(critical, 8))
		waiter := queued(sheddable, t, b, 1)
		first, ok := b.TryAcquire(ordinary, 1)
		second, err := b.Acquire(critical, 1)
		if !ok || err != nil {
			t.Errorf("ordinary %v, critical %v", ok, err)
		}
		first.Release(backstay.Outcome{})
		second.Release(backstay.Outcome{})
		held.Release(backstay.Outcome{})
		(<-waiter).permit.Release(backstay.Outcome{})
		wantIdle(t, b)
	})
}

func TestAFullQueueGivesUpTheNewestOfTheLowestPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: 3, Priorities: &bulkhead.PriorityConfig{}}))
		critical, ordinary, sheddable := as(t)
		permit := acquire(t, b)
		old, recent := queued(sheddable, t, b, 1), queued(sheddable, t, b, 1)
		middle := queued(ordinary, t, b, 1)

		wantFull(t, (<-queued(sheddable, t, b, 1)).err) // equals do not push each other out
		first := queuedIntoFull(critical, t, b)
		if full := wantFull(t, (<-recent).err); full.Err == nil {
			t.Errorf("shed with %v", full)
		}
		second := queuedIntoFull(ordinary, t, b)
		wantFull(t, (<-old).err)
		wantFull(t, (<-queued(ordinary, t, b, 1)).err)

		for _, w := range []<-chan ended{first, middle, second} {
			permit.Release(backstay.Outcome{})
			permit = (<-w).permit
		}
		permit.Release(backstay.Outcome{})
		wantIdle(t, b)
	})
}

// queuedIntoFull is queued where somebody else has to go.
func queuedIntoFull(ctx context.Context, t *testing.T, b *bulkhead.Bulkhead) <-chan ended {
	t.Helper()
	before := b.Queued()
	done := make(chan ended, 1)
	go func() {
		permit, err := b.Acquire(ctx, 1)
		done <- ended{permit: &permit, err: err}
	}()
	synctest.Wait()
	if len(done) != 0 || b.Queued() != before {
		t.Fatalf("%d queued, want %d still", b.Queued(), before)
	}
	return done
}

func TestPriorityAndWeightTravelInTheContext(t *testing.T) {
	if p := bulkhead.PriorityFrom(t.Context()); p != bulkhead.Default {
		t.Errorf("no priority is %v", p)
	}
	critical, _, sheddable := as(t)
	if p := bulkhead.PriorityFrom(critical); p.String() != "critical" {
		t.Errorf("critical is %v", p)
	}
	if p := bulkhead.PriorityFrom(sheddable); p.String() != "sheddable" {
		t.Errorf("sheddable is %v", p)
	}
	if n := bulkhead.WeightFrom(bulkhead.WithWeight(critical, 5)); n != 5 {
		t.Errorf("weight %d", n)
	}
}
