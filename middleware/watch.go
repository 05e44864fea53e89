package middleware

import (
	"context"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/idempotency"
)

// watched calls next as the call c: it refuses where the pipeline is closed,
// and where somebody wants to know, tells what the call came to.
func watched[Q, R any](ctx context.Context, c *call[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	p := c.pipeline
	report := backstay.ReportFrom(ctx)
	if report != nil || !p.scope.Silent() {
		return told(ctx, c, report, q, next)
	}
	if c.version.refuses() {
		var none R
		return none, p.refusal()
	}
	return next(ctx, q)
}

// told is watched where somebody is told: the call's report, the observer, the
// tracer.
func told[Q, R any](ctx context.Context, c *call[Q, R], report *backstay.Report, q Q, next backstay.Call[Q, R]) (r R, err error) {
	p := c.pipeline
	c.loud = true
	if report == nil {
		ctx, report = backstay.WithReport(ctx)
	}
	report.Begin()
	report.Note(func(s *backstay.Summary) { s.Key = idempotency.KeyFrom(ctx) })
	inner, end := p.startSpan(ctx, backstay.Event{Kind: backstay.CallStarted})
	o := backstay.Outcome{Class: backstay.Fault} // what stands if next panics or exits
	defer func() {
		p.callDone(inner, report, end, backstay.Event{
			Attempt: c.account(), Outcome: o, Err: err, Elapsed: backstay.Now().Sub(c.began),
		})
	}()
	if c.version.refuses() {
		err = p.refuse(inner)
	} else {
		r, err = next(inner, q)
	}
	o = backstay.Judge(ctx, c.exchange, r, err)
	return r, err
}

// callDone closes the report, and tells observer and tracer of the call's end.
func (p *Pipeline) callDone(ctx context.Context, report *backstay.Report, end func(backstay.Event), e backstay.Event) {
	report.End(func(s *backstay.Summary) {
		s.Attempts, s.Outcome, s.Elapsed = e.Attempt, e.Outcome, e.Elapsed
		switch {
		case e.Outcome.Class == backstay.Canceled && s.Reason == "":
			s.Reason = backstay.ReasonCanceled
		case e.Outcome.Class == backstay.Success && !s.Degraded:
			s.Reason = "" // that of a copy, which did not matter in the end
		}
		e.Copy, e.Reason, e.Rung = s.Winner, s.Reason, s.Rung
	})
	e.Kind = backstay.CallDone
	p.scope.Emit(ctx, e)
	end(e)
}

// refuse returns the error of a closed pipeline, and tells of it.
func (p *Pipeline) refuse(ctx context.Context) error {
	err := p.refusal()
	backstay.Note(ctx, func(s *backstay.Summary) { s.Reason = backstay.ReasonClosed })
	p.scope.Emit(ctx, backstay.Event{
		Kind: backstay.CallRejected, Reason: backstay.ReasonClosed, Outcome: err.Outcome(), Err: err,
	})
	return err
}

func (p *Pipeline) refusal() *ClosedError { return &ClosedError{Name: p.scope.Name()} }

// abandoned returns the error of a call whose caller was gone before it began.
func abandoned(ctx context.Context) error {
	backstay.Note(ctx, func(s *backstay.Summary) { s.Reason = backstay.ReasonCanceled })
	return backstay.ContextError(ctx)
}

// sent makes one attempt, or hedged copy, that somebody is told of. What it
// calls may go through other pipelines, which must not take the report of this
// call for theirs.
func sent[Q, R any](ctx context.Context, at backstay.Instant, n int32, c *call[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	if !c.count(n) {
		var none R
		return none, context.Canceled // nobody waits for it
	}
	p := c.pipeline
	inner := backstay.WithoutReport(ctx)
	if p.scope.Silent() {
		return next(inner, q)
	}
	e := backstay.Event{Kind: backstay.AttemptStarted, Attempt: int(n), Copy: c.version.copyOf(ctx)}
	inner, end := p.startSpan(inner, e)
	e.Kind = backstay.AttemptDone
	e.Outcome.Class = backstay.Fault // what stands if next panics or exits
	defer func() {
		e.Elapsed = backstay.Now().Sub(at)
		p.scope.Emit(inner, e)
		end(e)
	}()
	r, err := next(inner, q)
	e.Outcome, e.Err = backstay.Judge(ctx, c.exchange, r, err), err
	return r, err
}

// copyOf returns the number of the copy that runs under ctx. Where the pipeline
// does not hedge, a number in ctx is that of somebody else's copy.
func (v *version) copyOf(ctx context.Context) int {
	if v.hedges() == nil {
		return 1
	}
	return hedge.Copy(ctx)
}
