package middleware_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// A call may make calls of its own, through other pipelines or its own, and
// with the context it was given. They are none of its report's.
func TestCallsWithinACallLeaveItsReportAlone(t *testing.T) {
	outer := made(t, only(middleware.Config{Retry: &retry.Config{Base: retry.NoWait, Budget: retry.NoBudget}}))
	for name, inner := range map[string]*middleware.Pipeline{
		"another pipeline": made(t, only(middleware.Config{Retry: &retry.Config{Base: retry.NoWait, Budget: retry.NoBudget}})),
		"one that tells":   made(t, only(middleware.Config{Retry: &retry.Config{Base: retry.NoWait, Budget: retry.NoBudget}}), middleware.WithObserver(new(journal))),
		"the same":         outer,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, report := backstay.WithReport(t.Context())
			_, err := middleware.Do(ctx, outer, answers(fails, func(ctx context.Context) (int, error) {
				own, within := backstay.WithReport(ctx)
				_, _ = middleware.Do(own, inner, fails)
				if s := within.Summary(); s.Attempts != 3 || s.Reason != backstay.ReasonExhausted {
					t.Errorf("the report of the call within: %+v", s)
				}
				_, _ = middleware.Do(ctx, inner, fails)
				return 7, nil
			}))
			if s := report.Summary(); err != nil || s.Attempts != 2 || len(s.Waits) != 1 || s.Reason != "" {
				t.Errorf("%v: %+v", err, s)
			}
		})
	}
}

// Nor does a copy that has lost change the report that its caller reads.
func TestALoserThatMakesACallLeavesTheReportAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer := made(t, only(middleware.Config{Hedge: &hedge.Config{Delay: 10 * ms}}))
		inner := made(t, middleware.Standard("inner"))
		ctx, report := backstay.WithReport(t.Context())
		_, err := middleware.Race(ctx, outer, nil, func(ctx context.Context) (int, error) {
			if hedge.Copy(ctx) == 1 {
				return 7, sleep(ctx, 50*ms)
			}
			time.Sleep(time.Minute)
			return middleware.Do(ctx, inner, succeeds)
		})
		before := report.Summary()
		time.Sleep(time.Hour)
		if after := report.Summary(); err != nil || before.Copies != 1 || after.Elapsed != before.Elapsed || after.Copies != 1 {
			t.Errorf("%v: %+v, and later %+v", err, before, after)
		}
	})
}

// Within attempt 2, or copy 2, of one pipeline the attempts of another count
// from 1 all the same.
func TestAttemptsWithinAnAttemptCountFromOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(journal)
		inner := made(t, only(middleware.Config{Retry: &retry.Config{Base: retry.NoWait, Budget: retry.NoBudget}}), middleware.WithObserver(seen))
		outer := made(t, only(middleware.Config{Retry: &retry.Config{Base: retry.NoWait}, Hedge: &hedge.Config{Delay: 10 * ms}}))
		_, _ = middleware.Race(t.Context(), outer, nil, func(ctx context.Context) (int, error) {
			if retry.Attempt(ctx) == 1 {
				return 0, errDown
			}
			if hedge.Copy(ctx) == 1 {
				return 7, sleep(ctx, 50*ms)
			}
			_, _ = middleware.Do(ctx, inner, answers(fails, succeeds))
			return 7, nil
		})
		synctest.Wait()
		e := seen.of(backstay.AttemptDone)
		if len(e) != 2 || e[0].Attempt != 1 || e[1].Attempt != 2 || e[0].Copy != 1 || e[1].Copy != 1 {
			t.Errorf("events %+v", e)
		}
	})
}

// A pipeline that abandons minds its own limit, not that of a call within.
func TestALimitWithinDoesNotEndTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		each := func(d time.Duration) middleware.Target {
			return only(middleware.Config{Timeout: &timeout.Config{After: d, Abandon: true}})
		}
		outer, inner := made(t, each(10*time.Second)), made(t, each(time.Second))
		began := time.Now()
		got, err := middleware.Race(t.Context(), outer, nil, func(ctx context.Context) (int, error) {
			_, _ = middleware.Do(ctx, inner, slow(time.Minute))
			return 7, sleep(ctx, 5*time.Second)
		})
		if got != 7 || err != nil || time.Since(began) != 6*time.Second {
			t.Errorf("%d, %v after %v", got, err, time.Since(began))
		}
	})
}
