package breaker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/breaker"
)

func TestForceOpenRejectsUntilReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newBreaker(t, twoFailures())
		b.ForceOpen()
		time.Sleep(24 * time.Hour)
		wantRejected(t, call(t.Context(), b, nil))
		wantState(t, b, breaker.ForcedOpen)
		b.ForceOpen() // again: no event
		b.Reset()
		wantAdmitted(t, call(t.Context(), b, nil))
		wantState(t, b, breaker.Closed)
		b.Reset() // again: no event
		wantChanges(t, l, "closed>forced-open", "forced-open>closed")
	})
}

func TestForceClosedAdmitsAllAndCountsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newBreaker(t, twoFailures())
		trip(t, b)
		b.ForceClosed()
		for range 100 {
			wantAdmitted(t, call(t.Context(), b, errBackend))
		}
		if got := b.Counts(); got != (breaker.Counts{}) {
			t.Errorf("counts %+v, want none", got)
		}
		wantState(t, b, breaker.ForcedClosed)
		wantChanges(t, l, "closed>open", "open>forced-closed")
	})
}

func TestMetricsOnlyCountsAndNeverOpens(t *testing.T) {
	for name, c := range map[string]breaker.Config{
		"calls": {}, "many calls": {Window: 100}, "time": {TimeWindow: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, _ := newBreaker(t, c)
				b.MetricsOnly()
				for range 15 {
					wantAdmitted(t, call(t.Context(), b, errBackend))
				}
				b.MetricsOnly() // again: the window stays
				want := breaker.Counts{Calls: 15, Failures: 15, Consecutive: 15}
				if got := b.Counts(); got != want {
					t.Errorf("counts %+v, want %+v", got, want)
				}
				if trips, why := b.Trip(b.Counts()); !trips || why != breaker.ReasonFailureRatio {
					t.Errorf("would have opened: %v %s", trips, why)
				}
				wantState(t, b, breaker.MetricsOnly)
			})
		})
	}
}

func TestResetForgetsCallsAndOpenings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newBreaker(t, twoFailures())
		trip(t, b)
		time.Sleep(time.Second)
		_ = call(t.Context(), b, errBackend) // now it would be open for 2 s
		late := must(newProbe(t, b))
		b.Reset()
		wantState(t, b, breaker.Closed)
		late.Done(t.Context(), failure, 0)
		_ = call(t.Context(), b, errBackend)
		wantState(t, b, breaker.Closed)
		_ = call(t.Context(), b, errBackend)
		wantState(t, b, breaker.Open)
		time.Sleep(time.Second)
		wantState(t, b, breaker.HalfOpen)
		wantChanges(t, l, "closed>open", "open>half-open", "half-open>open", "open>half-open", "half-open>closed", "closed>open")
	})
}

func newProbe(t *testing.T, b *breaker.Breaker) (breaker.Pass, error) {
	t.Helper()
	time.Sleep(2 * time.Second)
	return b.Allow(t.Context())
}

func TestACallThatBeganBeforeAForcedStateDoesNotCount(t *testing.T) {
	b, _ := newBreaker(t, twoFailures())
	first, second := must(b.Allow(t.Context())), must(b.Allow(t.Context()))
	b.ForceClosed()
	b.Reset()
	first.Done(t.Context(), failure, 0)
	second.Done(t.Context(), failure, 0)
	wantState(t, b, breaker.Closed)
	if got := b.Counts(); got != (breaker.Counts{}) {
		t.Errorf("counts %+v, want none", got)
	}
}
