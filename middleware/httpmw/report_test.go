package httpmw_test

import (
	"context"
	"errors"
	"net/http"
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
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
	"github.com/backstay-go/backstay/retry"
)

// ending is one way in which a call can end, and what its report says then.
type ending struct {
	name    string
	change  func(*middleware.Target)
	options []httpmw.Option
	prepare func(t *testing.T, tr *httpmw.Transport)
	ctx     func(context.Context) (context.Context, context.CancelFunc)
	method  string // "": GET
	steps   []httpmwtest.Step

	attempts, waits int
	class           backstay.Class
	reason          backstay.Reason
	copies, winner  int
	rung            string
}

func within(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
}

func cancelledAfter(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(d, cancel)
		return ctx, cancel
	}
}

func rungs() []httpmw.Option {
	var rung fallback.For[*http.Request, *http.Response]
	fails := func(context.Context, *http.Request, error) (*http.Response, error) {
		return nil, errors.New("not today")
	}
	works := func(_ context.Context, req *http.Request, _ error) (*http.Response, error) {
		return answer(req, 203), nil
	}
	return []httpmw.Option{httpmw.WithFallback(rung.Reduced("replica", fails), rung.Reduced("default", works))}
}

var endings = []ending{
	{
		name:  "success",
		steps: []httpmwtest.Step{httpmwtest.Status(200)}, attempts: 1, class: backstay.Success,
	},
	{
		name:  "success on attempt 2",
		steps: []httpmwtest.Step{httpmwtest.Reset(), httpmwtest.Status(200)}, attempts: 2, waits: 1, class: backstay.Success,
	},
	{
		name:  "attempts used up by answers",
		steps: []httpmwtest.Step{httpmwtest.Status(503)}, attempts: 3, waits: 2, class: backstay.Transient, reason: backstay.ReasonExhausted,
	},
	{
		name:  "attempts used up by errors",
		steps: []httpmwtest.Step{httpmwtest.Reset()}, attempts: 3, waits: 2, class: backstay.Transient, reason: backstay.ReasonExhausted,
	},
	{
		name:   "attempts used up by timeouts",
		change: func(t *middleware.Target) { t.Retry.MaxAttempts = 2 },
		steps:  []httpmwtest.Step{httpmwtest.BlackHole()}, attempts: 2, waits: 1, class: backstay.Transient, reason: backstay.ReasonExhausted,
	},
	{
		name:   "budget empty",
		change: func(t *middleware.Target) { t.Retry.Budget = retry.BudgetConfig{Burst: 1} },
		steps:  []httpmwtest.Step{httpmwtest.Status(503)}, attempts: 2, waits: 1, class: backstay.Transient, reason: backstay.ReasonBudgetEmpty,
	},
	{
		name:  "no time",
		ctx:   within(time.Second),
		steps: []httpmwtest.Step{httpmwtest.Status(503).RetryAfter(time.Second)}, attempts: 1, class: backstay.Overload, reason: backstay.ReasonNoTime,
	},
	{
		name: "not repeatable", method: http.MethodPost,
		steps: []httpmwtest.Step{httpmwtest.Reset()}, attempts: 1, class: backstay.Transient, reason: backstay.ReasonNotRepeatable,
	},
	{
		name:  "the caller's mistake",
		steps: []httpmwtest.Step{httpmwtest.Status(404)}, attempts: 1, class: backstay.Permanent, reason: backstay.ReasonDoNotRetry,
	},
	{
		name:  "the server's wish",
		steps: []httpmwtest.Step{httpmwtest.Status(503).Header("X-Backstay-Retry", "never")}, attempts: 1, class: backstay.Transient, reason: backstay.ReasonDoNotRetry,
	},
	{
		name:  "below a layer that retries",
		ctx:   func(ctx context.Context) (context.Context, context.CancelFunc) { return retry.Suppress(ctx), func() {} },
		steps: []httpmwtest.Step{httpmwtest.Status(503)}, attempts: 1, class: backstay.Transient, reason: backstay.ReasonNested,
	},
	{
		name:    "breaker open",
		prepare: func(_ *testing.T, tr *httpmw.Transport) { breakerOf(tr).ForceOpen() },
		class:   backstay.Rejected, reason: backstay.ReasonBreakerOpen,
	},
	{
		name:   "breaker opened by the first attempt",
		change: func(t *middleware.Target) { t.Breaker = &breaker.Config{Consecutive: 1} },
		steps:  []httpmwtest.Step{httpmwtest.Status(503)}, attempts: 1, class: backstay.Transient, reason: backstay.ReasonBreakerOpen,
	},
	{
		name:   "bulkhead full",
		change: func(t *middleware.Target) { t.Bulkhead = &bulkhead.Config{Limit: 1, HoldBody: true} },
		prepare: func(t *testing.T, tr *httpmw.Transport) {
			_ = must(get(t, t.Context(), tr))
		},
		steps: []httpmwtest.Step{httpmwtest.Status(200).Body("held")}, class: backstay.Rejected, reason: backstay.ReasonBulkheadFull,
	},
	{
		name:    "rate limited",
		change:  func(t *middleware.Target) { t.Bulkhead = &bulkhead.Config{Rate: &bulkhead.RateConfig{PerSecond: 1}} },
		prepare: func(t *testing.T, tr *httpmw.Transport) { _ = must(get(t, t.Context(), tr)) },
		steps:   []httpmwtest.Step{httpmwtest.Status(200)}, class: backstay.Rejected, reason: backstay.ReasonRateLimited,
	},
	{
		name:   "too late",
		change: func(t *middleware.Target) { t.Deadline = &deadline.Config{Need: time.Second} },
		ctx:    within(time.Second / 2),
		class:  backstay.Rejected, reason: backstay.ReasonTooLate,
	},
	{
		name:    "closed",
		prepare: func(_ *testing.T, tr *httpmw.Transport) { _ = tr.Close(context.Background()) },
		class:   backstay.Rejected, reason: backstay.ReasonClosed,
	},
	{
		name:   "hedge won",
		change: func(t *middleware.Target) { t.Hedge = &hedge.Config{Delay: 10 * time.Millisecond} },
		steps:  []httpmwtest.Step{httpmwtest.BlackHole(), httpmwtest.Status(200)}, attempts: 1, class: backstay.Success, copies: 1, winner: 2,
	},
	{
		name:   "hedge lost",
		change: func(t *middleware.Target) { t.Hedge = &hedge.Config{Delay: 10 * time.Millisecond} },
		steps:  []httpmwtest.Step{httpmwtest.Hang(time.Second), httpmwtest.BlackHole()}, attempts: 1, class: backstay.Success, copies: 1, winner: 1,
	},
	{
		name: "fallback rung 2", options: rungs(),
		steps: []httpmwtest.Step{httpmwtest.Reset()}, attempts: 3, waits: 2, class: backstay.Success, reason: backstay.ReasonExhausted, rung: "default",
	},
	{
		name: "fallback rung 2 for an open breaker", options: rungs(),
		prepare: func(_ *testing.T, tr *httpmw.Transport) { breakerOf(tr).ForceOpen() },
		class:   backstay.Success, reason: backstay.ReasonBreakerOpen, rung: "default",
	},
	{
		name:  "cancelled in the first attempt",
		ctx:   cancelledAfter(time.Second),
		steps: []httpmwtest.Step{httpmwtest.BlackHole()}, attempts: 1, class: backstay.Canceled, reason: backstay.ReasonCanceled,
	},
	{
		name:  "cancelled in a wait",
		ctx:   cancelledAfter(time.Second),
		steps: []httpmwtest.Step{httpmwtest.Status(503).RetryAfter(5 * time.Second)}, attempts: 1, class: backstay.Canceled, reason: backstay.ReasonCanceled,
	},
	{
		name: "cancelled before the first attempt",
		ctx: func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		},
		class: backstay.Canceled, reason: backstay.ReasonCanceled,
	},
	{
		name:  "the caller's deadline before the first attempt",
		ctx:   within(0),
		class: backstay.Rejected, reason: backstay.ReasonTooLate,
	},
	{
		name:  "the caller's deadline in an attempt",
		ctx:   within(time.Second),
		steps: []httpmwtest.Step{httpmwtest.BlackHole()}, attempts: 1, class: backstay.Canceled, reason: backstay.ReasonCanceled,
	},
	{
		name: "our own total",
		change: func(t *middleware.Target) {
			t.Deadline, t.Timeout = &deadline.Config{Total: time.Second}, nil
		},
		steps: []httpmwtest.Step{httpmwtest.BlackHole()}, attempts: 1, class: backstay.Fault, reason: backstay.ReasonNoTime,
	},
}

// Acceptance case C61.
func TestC61_TheReportOfEveryEndingSaysWhich(t *testing.T) {
	for _, c := range endings {
		t.Run(c.name, func(t *testing.T) { synctest.Test(t, c.check) })
	}
}

func (c ending) check(t *testing.T) {
	var seen httpmwtest.Recorder
	target := middleware.Standard("payments")
	target.Retry = &retry.Config{}
	if c.change != nil {
		c.change(&target)
	}
	tr := transport(t, httpmwtest.Script(c.steps...), target, append(c.options, httpmw.WithObserver(&seen))...)
	if c.prepare != nil {
		c.prepare(t, tr)
	}
	ctx, report := backstay.WithReport(t.Context())
	if c.ctx != nil {
		var cancel context.CancelFunc
		ctx, cancel = c.ctx(ctx)
		defer cancel()
	}
	began := time.Now()
	resp, err := tr.RoundTrip(request(t, ctx, c.method, "http://x.test/", nil))
	took := time.Since(began)
	if err == nil {
		_ = resp.Body.Close()
	}
	s := report.Summary()
	if s.Attempts != c.attempts || len(s.Waits) != c.waits || s.Outcome.Class != c.class || s.Reason != c.reason {
		t.Errorf("report %v; waits %v; want %d attempts, %d waits, %v, %q", report, s.Waits, c.attempts, c.waits, c.class, c.reason)
	}
	if s.Copies != c.copies || s.Winner != c.winner || s.Rung != c.rung || s.Degraded != (c.rung != "") || s.Degraded != (s.Cause != nil) {
		t.Errorf("report %+v", s)
	}
	if s.Elapsed != took {
		t.Errorf("the report says %v, it took %v", s.Elapsed, took)
	}
	if rejected := errors.Is(err, backstay.ErrRejected); rejected != (c.class == backstay.Rejected) {
		t.Errorf("error %v", err)
	}
	c.agrees(t, &seen, s, err)
}

// agrees checks that the last event tells the same as the report.
func (c ending) agrees(t *testing.T, seen *httpmwtest.Recorder, s backstay.Summary, err error) {
	t.Helper()
	all := seen.Events(backstay.CallDone)
	e := all[len(all)-1]
	if e.Attempt != s.Attempts || e.Outcome != s.Outcome || e.Reason != s.Reason || e.Rung != s.Rung || e.Copy != s.Winner || e.Elapsed != s.Elapsed || e.Err != err {
		t.Errorf("the event says %+v, the report %+v, the call %v", e, s, err)
	}
	if e.Policy != "payments" || e.Key != "x.test" {
		t.Errorf("the event is of %q, %q", e.Policy, e.Key)
	}
}
