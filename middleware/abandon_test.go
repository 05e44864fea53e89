package middleware_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

func abandoning() middleware.Target {
	return only(middleware.Config{
		Breaker: &breaker.Config{Consecutive: 1, OpenFor: time.Second}, Bulkhead: &bulkhead.Config{Limit: 1},
		Timeout: &timeout.Config{After: time.Second, Abandon: true},
	})
}

// Acceptance case C56.
func TestC56_ACallThatGoesOnRunningKeepsItsPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := made(t, abandoning())
		began := time.Now()
		_, err := middleware.Race(t.Context(), p, nil, deaf(time.Minute))
		if !errors.Is(err, timeout.ErrTimeout) || time.Since(began) != time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		for time.Since(began) < time.Minute {
			_, err := middleware.Race(t.Context(), p, nil, succeeds)
			refused(t, err, bulkhead.ErrFull)
			synctest.Wait() // the goroutine of the refused call ends just after it has answered
			if s := p.Status(); s.Bulkhead.InFlight != 1 || s.Abandoned != 1 {
				t.Errorf("status %+v", s.Bulkhead)
			}
			time.Sleep(10 * time.Second)
		}
		synctest.Wait()
		if n := p.Bulkhead().InFlight(); n != 0 || p.Status().Abandoned != 0 {
			t.Errorf("%d permits are held after the end", n)
		}
		if s := p.Breaker().State(); s == breaker.Closed {
			t.Error("its end in a timeout did not count")
		}
		time.Sleep(time.Minute)
		if _, err := middleware.Race(t.Context(), p, nil, succeeds); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// A probe that is left behind keeps its place, and counts when it ends.
func TestAnAbandonedProbeKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := made(t, abandoning())
		_, _ = middleware.Race(t.Context(), p, nil, fails)
		time.Sleep(2 * time.Second)
		_, err := middleware.Race(t.Context(), p, nil, deaf(20*time.Second)) // the probe
		if !errors.Is(err, timeout.ErrTimeout) {
			t.Fatal(err)
		}
		_, err = middleware.Race(t.Context(), p, nil, succeeds)
		refused(t, err, breaker.ErrOpen)
		time.Sleep(21 * time.Second)
		if s := p.Breaker().State(); s == breaker.Closed {
			t.Errorf("the probe timed out, and the breaker is %v", s)
		}
	})
}

func TestAnAbandonedAttemptIsTriedAgainAndItsAnswerFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(journal)
		p := made(t, only(middleware.Config{
			Retry: &retry.Config{Base: retry.NoWait}, Timeout: &timeout.Config{After: time.Second, Abandon: true},
		}), middleware.WithObserver(seen))
		ctx, report := backstay.WithReport(t.Context())
		late, good := &testkit.Reply{Name: "late"}, &testkit.Reply{Name: "good"}
		var attempts atomic.Int32
		got, err := middleware.Run(ctx, p, nil, new(testkit.Fake), "GET", func(ctx context.Context, _ string) (*testkit.Reply, error) {
			if attempts.Add(1) == 1 {
				time.Sleep(time.Minute)
				return late, nil
			}
			return good, nil
		})
		if got != good || err != nil || report.Summary().Attempts != 2 {
			t.Fatalf("%v, %v: %v", got, err, report)
		}
		if late.Discarded.Load() != 0 {
			t.Error("freed before it came")
		}
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if late.Discarded.Load() != 1 || good.Discarded.Load() != 0 {
			t.Errorf("late freed %d times, good %d times", late.Discarded.Load(), good.Discarded.Load())
		}
		if n := len(seen.of(backstay.AttemptDone)); n != 2 {
			t.Errorf("%d attempts were told of", n)
		}
	})
}

func TestAPanicThatNobodyWaitsForIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(journal)
		p := made(t, abandoning(), middleware.WithObserver(seen))
		_, err := middleware.Race(t.Context(), p, nil, func(context.Context) (int, error) {
			time.Sleep(time.Minute)
			panic("boom")
		})
		if !errors.Is(err, timeout.ErrTimeout) {
			t.Error(err)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if n := seen.counts(); n[backstay.CallbackPanicked] != 1 || n[backstay.AttemptDone] != 1 || p.Bulkhead().InFlight() != 0 {
			t.Errorf("events %v, %d permits", n, p.Bulkhead().InFlight())
		}
	})
}
