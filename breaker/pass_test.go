package breaker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
)

func TestDoneCountsAsTheOutcomeSays(t *testing.T) {
	expired, cancel := context.WithDeadline(t.Context(), time.Time{})
	defer cancel()
	for _, c := range []struct {
		name    string
		ctx     context.Context //nolint:containedctx // one row's
		o       backstay.Outcome
		elapsed time.Duration
		want    breaker.Counts
	}{
		{"a success", t.Context(), success, 0, breaker.Counts{Calls: 1}},
		{"a slow success", t.Context(), success, time.Second, breaker.Counts{Calls: 1, Slow: 1}},
		{"a failure", t.Context(), failure, 0, breaker.Counts{Calls: 1, Failures: 1, Consecutive: 1}},
		{"a cancelled call", t.Context(), cancelled, time.Hour, breaker.Counts{}},
		{"a deadline's cut before SlowAfter", expired, cancelled, time.Second - 1, breaker.Counts{}},
		{"a deadline's cut after SlowAfter", expired, cancelled, time.Second, breaker.Counts{Calls: 1, Failures: 1, Slow: 1, Consecutive: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, _ := newBreaker(t, breaker.Config{SlowAfter: time.Second, SlowRatio: 0.5})
			must(b.Allow(t.Context())).Done(c.ctx, c.o, c.elapsed)
			if got := b.Counts(); got != c.want {
				t.Errorf("counts %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestDoneInATimeWindowCountsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBreaker(t, breaker.Config{TimeWindow: 10 * time.Second})
		pass := must(b.Allow(t.Context()))
		time.Sleep(time.Hour)
		pass.Done(t.Context(), failure, time.Hour)
		if got, want := b.Counts(), (breaker.Counts{Calls: 1, Failures: 1, Consecutive: 1}); got != want {
			t.Errorf("counts %+v, want %+v", got, want)
		}
	})
}

func TestACloneSharesNothingButItsConfig(t *testing.T) {
	b, l := newBreaker(t, twoFailures())
	other := new(log)
	c := b.Clone(&backstay.Scope{Policy: "other", Observer: other})
	trip(t, c)
	wantState(t, b, breaker.Closed)
	wantChanges(t, l)
	wantChanges(t, other, "closed>open")
}
