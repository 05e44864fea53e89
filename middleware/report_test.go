package middleware_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// cancelledAfter returns a context that is cancelled after d.
func cancelledAfter(d time.Duration) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(d, cancel)
	return ctx
}

// endingAfter returns a context whose deadline is d away.
func endingAfter(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	context.AfterFunc(ctx, cancel)
	return ctx
}

func now(*middleware.Pipeline) context.Context { return context.Background() }

// exhausted takes every token of the pipeline's budget.
func exhausted(p *middleware.Pipeline) context.Context {
	for p.Status().Budget.Available >= 1 {
		_, _ = middleware.Do(context.Background(), p, fails)
	}
	return context.Background()
}

func full(p *middleware.Pipeline) context.Context {
	_, _ = p.Bulkhead().Acquire(context.Background(), 1)
	return context.Background()
}

// Acceptance case C61.
func TestC61_TheReportSaysHowTheCallEnded(t *testing.T) {
	again := &retry.Config{Base: retry.NoWait}
	tooSlow := timeout.Config{After: time.Second}
	overloaded := func(context.Context) (int, error) { return 0, backstay.RetryAfter(errDown, time.Hour) }
	once := func(class backstay.Class, why backstay.Reason) backstay.Summary {
		return backstay.Summary{Attempts: 1, Outcome: backstay.Outcome{Class: class}, Reason: why}
	}
	never := func(why backstay.Reason) backstay.Summary {
		return backstay.Summary{Outcome: backstay.Outcome{Class: backstay.Rejected}, Reason: why}
	}
	for name, c := range map[string]struct {
		config middleware.Config
		spoil  func(*middleware.Pipeline) context.Context
		f      func(context.Context) (int, error)
		want   backstay.Summary // Waits: how many, all of zero
	}{
		"success": {middleware.Config{Retry: again}, now, succeeds, once(backstay.Success, "")},
		"success on attempt 2": {middleware.Config{Retry: again}, now, answers(fails, succeeds), backstay.Summary{
			Attempts: 2, Waits: make([]time.Duration, 1),
		}},
		"exhausted": {middleware.Config{Retry: again}, now, fails, backstay.Summary{
			Attempts: 3, Waits: make([]time.Duration, 2), Outcome: backstay.Outcome{Class: backstay.Transient}, Reason: backstay.ReasonExhausted,
		}},
		"budget empty":    {middleware.Config{Retry: again}, exhausted, fails, once(backstay.Transient, backstay.ReasonBudgetEmpty)},
		"no time":         {middleware.Config{Retry: again}, now, overloaded, once(backstay.Overload, backstay.ReasonNoTime)},
		"do not retry":    {middleware.Config{Retry: again}, now, func(context.Context) (int, error) { return 0, backstay.PermanentError(errDown) }, once(backstay.Permanent, backstay.ReasonDoNotRetry)},
		"nested":          {middleware.Config{Retry: again}, func(*middleware.Pipeline) context.Context { return retry.Suppress(context.Background()) }, fails, once(backstay.Transient, backstay.ReasonNested)},
		"without retries": {middleware.Config{}, now, fails, once(backstay.Transient, "")},

		"open": {middleware.Config{Retry: again, Breaker: &breaker.Config{}}, func(p *middleware.Pipeline) context.Context {
			p.Breaker().ForceOpen()
			return context.Background()
		}, succeeds, never(backstay.ReasonBreakerOpen)},
		"opened by the first attempt": {middleware.Config{Retry: again, Breaker: &breaker.Config{Consecutive: 1}}, now, fails, backstay.Summary{
			Attempts: 1, Outcome: backstay.Outcome{Class: backstay.Transient}, Reason: backstay.ReasonBreakerOpen,
		}},
		"full": {middleware.Config{Retry: again, Bulkhead: &bulkhead.Config{Limit: 1}}, full, succeeds, never(backstay.ReasonBulkheadFull)},
		"full for the whole call": {middleware.Config{
			Deadline: &deadline.Config{Total: time.Second}, Bulkhead: &bulkhead.Config{Limit: 1, MaxQueue: 1},
		}, full, succeeds, never(backstay.ReasonBulkheadFull)},
		"too many a second": {middleware.Config{Bulkhead: &bulkhead.Config{Rate: &bulkhead.RateConfig{PerSecond: 1}}}, func(p *middleware.Pipeline) context.Context {
			_, _ = middleware.Do(context.Background(), p, succeeds)
			return context.Background()
		}, succeeds, never(backstay.ReasonRateLimited)},
		"too late": {middleware.Config{Deadline: &deadline.Config{Need: time.Minute, Total: time.Hour}, Retry: again}, func(*middleware.Pipeline) context.Context {
			return endingAfter(time.Second)
		}, succeeds, never(backstay.ReasonTooLate)},
		"closed": {middleware.Config{Retry: again}, func(p *middleware.Pipeline) context.Context {
			_ = p.Close(context.Background())
			return context.Background()
		}, succeeds, never(backstay.ReasonClosed)},

		"cancelled in the attempt": {middleware.Config{Retry: again}, func(*middleware.Pipeline) context.Context {
			return cancelledAfter(time.Second)
		}, slow(time.Minute), once(backstay.Canceled, backstay.ReasonCanceled)},
		"cancelled in the attempt, without retries": {middleware.Config{}, func(*middleware.Pipeline) context.Context {
			return cancelledAfter(time.Second)
		}, slow(time.Minute), once(backstay.Canceled, backstay.ReasonCanceled)},
		"cancelled in the queue": {middleware.Config{Retry: again, Bulkhead: &bulkhead.Config{Limit: 1, MaxQueue: 1}}, func(p *middleware.Pipeline) context.Context {
			full(p)
			return cancelledAfter(time.Second)
		}, succeeds, backstay.Summary{Outcome: backstay.Outcome{Class: backstay.Canceled}, Reason: backstay.ReasonCanceled}},
		"cancelled before it began": {middleware.Config{Retry: again}, func(*middleware.Pipeline) context.Context {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return ctx
		}, succeeds, backstay.Summary{Outcome: backstay.Outcome{Class: backstay.Canceled}, Reason: backstay.ReasonCanceled}},
		"the caller's deadline": {middleware.Config{Retry: again, Timeout: &tooSlow}, func(*middleware.Pipeline) context.Context {
			return endingAfter(500 * ms)
		}, slow(time.Minute), once(backstay.Canceled, backstay.ReasonCanceled)},
		"its own total": {middleware.Config{Deadline: &deadline.Config{Total: time.Second}, Retry: again}, now, slow(time.Minute), once(backstay.Fault, backstay.ReasonNoTime)},
		"attempts that time out": {middleware.Config{Retry: again, Timeout: &tooSlow}, now, slow(time.Minute), backstay.Summary{
			Attempts: 3, Waits: make([]time.Duration, 2), Outcome: backstay.Outcome{Class: backstay.Transient}, Reason: backstay.ReasonExhausted,
		}},

		"hedge won": {middleware.Config{Hedge: &hedge.Config{Delay: 10 * ms}}, now, func(ctx context.Context) (int, error) {
			return 7, sleep(ctx, map[int]time.Duration{1: time.Minute, 2: ms}[hedge.Copy(ctx)])
		}, backstay.Summary{Attempts: 1, Copies: 1, Winner: 2}},
		"hedge lost": {middleware.Config{Hedge: &hedge.Config{Delay: 10 * ms}}, now, slow(50 * ms), backstay.Summary{Attempts: 1, Copies: 1, Winner: 1}},
		"a refused copy beside a success": {middleware.Config{Hedge: &hedge.Config{Delay: 10 * ms}, Bulkhead: &bulkhead.Config{Limit: 2, Rate: &bulkhead.RateConfig{PerSecond: 1}}},
			now, slow(50 * ms), backstay.Summary{Attempts: 1, Copies: 1, Winner: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := new(journal)
				p := made(t, only(c.config), middleware.WithObserver(seen))
				ctx, report := backstay.WithReport(c.spoil(p))
				began := time.Now()
				_, err := middleware.Race(ctx, p, nil, c.f)
				got, want := report.Summary(), c.want
				if got.Elapsed != time.Since(began) {
					t.Errorf("took %v, reported %v", time.Since(began), got.Elapsed)
				}
				if got.Outcome.Class != want.Outcome.Class || got.Reason != want.Reason || got.Attempts != want.Attempts ||
					got.Copies != want.Copies || got.Winner != want.Winner || len(got.Waits) != len(want.Waits) || got.Degraded {
					t.Errorf("report %+v\nwant   %+v\nerror: %v", got, want, err)
				}
				all := seen.of(backstay.CallDone)
				if e := all[len(all)-1]; e.Attempt != got.Attempts || e.Reason != got.Reason || e.Outcome != got.Outcome || e.Copy != got.Winner || e.Elapsed != got.Elapsed || !errors.Is(err, e.Err) {
					t.Errorf("event %+v\nreport %+v", e, got)
				}
			})
		})
	}
}

// Acceptance case C61.
func TestC61_TheReportNamesTheRung(t *testing.T) {
	p := made(t, middleware.Standard("test"))
	l, err := middleware.NewLadder(p, fallback.Rungs(
		fallback.Reduced("list price", func(context.Context, error) (int, error) { return 0, errors.New("no list") }),
		fallback.Reduced("guess", func(context.Context, error) (int, error) { return 42, nil }),
	))
	if err != nil {
		t.Fatal(err)
	}
	p.Breaker().ForceOpen()
	ctx, report := backstay.WithReport(t.Context())
	got, err := middleware.DoOr(ctx, p, l, succeeds)
	s := report.Summary()
	if got != 42 || err != nil || !s.Degraded || s.Rung != "guess" || s.Reason != backstay.ReasonBreakerOpen || !errors.Is(s.Cause, breaker.ErrOpen) || s.Attempts != 0 {
		t.Errorf("%d, %v: %+v", got, err, s)
	}
}

func TestAReportMayBeUsedAgain(t *testing.T) {
	p := made(t, only(middleware.Config{Retry: &retry.Config{Base: retry.NoWait}}))
	ctx, report := backstay.WithReport(t.Context())
	_, _ = middleware.Do(ctx, p, fails)
	if _, err := middleware.Do(ctx, p, succeeds); err != nil {
		t.Fatal(err)
	}
	if s := report.Summary(); s.Attempts != 1 || s.Waits != nil || s.Reason != "" || s.Outcome.Class != backstay.Success {
		t.Errorf("the second call's report has something of the first's: %+v", s)
	}
}
