package bulkhead_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
)

func TestTheRateBoundsHowManyCallsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Rate: &bulkhead.RateConfig{PerSecond: 10, Burst: 2}}))
		started := 0
		for range 1000 {
			if _, err := bulkhead.Do(t.Context(), b, nothing); err == nil {
				started++
			}
			time.Sleep(10 * time.Millisecond)
		}
		if started < 100 || started > 102 {
			t.Errorf("%d calls started in 10s, want 100 and the burst", started)
		}
		wantIdleButForTheRate(t, b)
	})
}

func wantIdleButForTheRate(t *testing.T, b *bulkhead.Bulkhead) {
	t.Helper()
	if b.InFlight() != 0 || b.Queued() != 0 {
		t.Errorf("%d in flight, %d queued", b.InFlight(), b.Queued())
	}
}

func TestARateLimitedCallLearnsWhenTheNextMayStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen events
		b := must(bulkhead.New(bulkhead.Config{Rate: &bulkhead.RateConfig{PerSecond: 0.1}},
			bulkhead.WithScope(&backstay.Scope{Observer: &seen})))
		permit := acquire(t, b)
		permit.Release(backstay.Outcome{})
		time.Sleep(time.Second)
		_, err := bulkhead.Do(t.Context(), b, nothing)
		full := wantFull(t, err)
		if full.Reason != backstay.ReasonRateLimited || full.RetryAfter.Round(time.Millisecond) != 9*time.Second {
			t.Errorf("refused with %+v", full)
		}
		if len(seen.Events()) != 1 || seen.Events()[0].Reason != backstay.ReasonRateLimited || seen.Events()[0].Wait != full.RetryAfter {
			t.Errorf("told %+v", seen.Events())
		}
		if _, ok := b.TryAcquire(t.Context(), 1); ok {
			t.Error("TryAcquire is not limited")
		}
		time.Sleep(full.RetryAfter)
		if _, err := bulkhead.Do(t.Context(), b, nothing); err != nil {
			t.Errorf("after that wait: %v", err)
		}
		wantIdleButForTheRate(t, b)
	})
}

func TestACallThatIsNotSentSpendsNothingOfTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: 1, MaxWait: time.Millisecond, Rate: &bulkhead.RateConfig{PerSecond: 0.1, Burst: 2}}))
		permit := acquire(t, b)
		for range 10 {
			if full := wantFull(t, (<-queued(t.Context(), t, b, 1)).err); full.Reason != backstay.ReasonBulkheadFull {
				t.Fatalf("refused with %+v", full)
			}
		}
		permit.Release(backstay.Outcome{})
		acquire(t, b).Release(backstay.Outcome{})
		_, err := b.Acquire(t.Context(), 1)
		if full := wantFull(t, err); full.Reason != backstay.ReasonRateLimited {
			t.Errorf("beyond the burst: %v", full)
		}
	})
}

func TestARateNeedsNoLimitBesideIt(t *testing.T) {
	b := must(bulkhead.New(bulkhead.Config{Limit: bulkhead.Unlimited, Rate: &bulkhead.RateConfig{PerSecond: 0.1}}))
	acquire(t, b)
	_, err := b.Acquire(t.Context(), 1)
	if full := wantFull(t, err); full.Limit != bulkhead.Unlimited || full.InFlight != 1 {
		t.Errorf("refused with %+v", full)
	}
}

func TestNobodyQueuesForARateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: 5, Rate: &bulkhead.RateConfig{PerSecond: 0.1}}))
		permit := acquire(t, b)
		got := <-queued(t.Context(), t, b, 1)
		if full := wantFull(t, got.err); got.after != 0 || full.Reason != backstay.ReasonRateLimited {
			t.Errorf("%v after %v", full, got.after)
		}
		permit.Release(backstay.Outcome{})
		wantIdleButForTheRate(t, b)
	})
}

func TestTheRateIsAskedAgainAfterTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := must(bulkhead.New(bulkhead.Config{Limit: 1, MaxQueue: 5, Rate: &bulkhead.RateConfig{PerSecond: 1, Burst: 2}}))
		permit := acquire(t, b)
		first, second := queued(t.Context(), t, b, 1), queued(t.Context(), t, b, 1)
		permit.Release(backstay.Outcome{})
		(<-first).permit.Release(backstay.Outcome{})
		if full := wantFull(t, (<-second).err); full.Reason != backstay.ReasonRateLimited {
			t.Errorf("refused with %+v", full)
		}
		wantIdleButForTheRate(t, b)
	})
}
