package middleware

import (
	"context"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/retry"
)

// watched calls next as one call of p: it refuses where p is closed, and where
// somebody wants to know, tells what the call came to.
func watched[Q, R any](ctx context.Context, began backstay.Instant, p *Pipeline, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	if p.refuses() {
		var none R
		return none, p.refuse(ctx)
	}
	report := backstay.ReportFrom(ctx)
	if report == nil && p.scope.Silent() {
		return next(ctx, q)
	}
	return told(ctx, began, p, report, x, q, next)
}

// refuse returns the error of a closed pipeline, and tells of it.
func (p *Pipeline) refuse(ctx context.Context) error {
	err := &ClosedError{Name: p.scope.Name()}
	backstay.Note(ctx, func(s *backstay.Summary) {
		s.Reason, s.Outcome = backstay.ReasonClosed, err.Outcome()
	})
	p.scope.Emit(ctx, backstay.Event{
		Kind: backstay.CallRejected, Reason: backstay.ReasonClosed, Outcome: err.Outcome(), Err: err,
	})
	return err
}

// abandoned returns the error of a call whose caller was gone before it began.
func abandoned(ctx context.Context) error {
	backstay.Note(ctx, func(s *backstay.Summary) { s.Reason = backstay.ReasonCanceled })
	return backstay.ContextError(ctx)
}

// told is watched where somebody is told: the call's report, the observer, the
// tracer.
func told[Q, R any](ctx context.Context, began backstay.Instant, p *Pipeline, report *backstay.Report, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	if report == nil {
		ctx, report = backstay.WithReport(ctx)
	}
	report.Begin()
	report.Note(func(s *backstay.Summary) { s.Key = idempotency.KeyFrom(ctx) })
	inner, end := p.startSpan(ctx, backstay.Event{Kind: backstay.CallStarted})
	o := backstay.Outcome{Class: backstay.Fault} // what stands if next panics or exits
	var err error
	defer func() { p.callDone(ctx, report, end, o, err, backstay.Now().Sub(began)) }()
	r, err := next(inner, q)
	o = backstay.Judge(ctx, x, r, err)
	return r, err
}

// callDone closes the report and tells observer and tracer of the call's end.
func (p *Pipeline) callDone(ctx context.Context, report *backstay.Report, end func(backstay.Event), o backstay.Outcome, err error, elapsed time.Duration) {
	var s backstay.Summary
	report.End(func(open *backstay.Summary) {
		open.Outcome, open.Elapsed = o, elapsed
		if open.Attempts == 0 && o.Class == backstay.Success && !open.Degraded {
			open.Attempts = 1 // nobody counts a call that succeeds at once
		}
		if o.Class == backstay.Canceled && open.Reason == "" {
			open.Reason = backstay.ReasonCanceled
		}
		s = *open
	})
	e := backstay.Event{
		Kind: backstay.CallDone, Attempt: s.Attempts, Copy: s.Winner, Outcome: o, Err: err,
		Reason: s.Reason, Rung: s.Rung, Elapsed: elapsed,
	}
	p.scope.Emit(ctx, e)
	end(e)
}

// sent calls next as one attempt that was sent, and tells of it.
func sent[Q, R any](ctx context.Context, at backstay.Instant, p *Pipeline, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	if p.scope.Silent() {
		return next(ctx, q)
	}
	return sentAloud(ctx, at, p, x, q, next)
}

// sentAloud is sent where somebody listens.
func sentAloud[Q, R any](ctx context.Context, at backstay.Instant, p *Pipeline, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	e := backstay.Event{Kind: backstay.AttemptStarted, Attempt: retry.Attempt(ctx), Copy: hedge.Copy(ctx)}
	inner, end := p.startSpan(ctx, e)
	e.Kind = backstay.AttemptDone
	e.Outcome.Class = backstay.Fault // what stands if next panics or exits
	defer func() {
		e.Elapsed = backstay.Now().Sub(at)
		p.scope.Emit(ctx, e)
		end(e)
	}()
	r, err := next(inner, q)
	e.Outcome, e.Err = backstay.Judge(ctx, x, r, err), err
	return r, err
}
