package retry

import (
	"context"

	"github.com/backstay-go/backstay"
)

// note writes into the report how the call ended. A nil report is left alone.
func note(report *backstay.Report, attempts int, why backstay.Reason) {
	if report != nil {
		report.Note(func(s *backstay.Summary) { s.Attempts, s.Reason = attempts, why })
	}
}

// finish ends a call that makes no other attempt and returns its error.
func (c *call) finish(ctx context.Context, d Decision) error {
	if c.outcome.Class == backstay.Rejected {
		return c.refused()
	}
	note(c.report, c.attempt, d.Reason)
	if c.outcome.Class.Retryable() && d.Reason != backstay.ReasonExhausted {
		why := c.err
		if d.Reason == backstay.ReasonNotRepeatable {
			why = c.unrepeatable
		}
		c.suppressed(ctx, d, why)
	}
	return c.verdict(ctx, d)
}

// refused ends a call whose current attempt was rejected, and so not sent;
// whoever rejected it has noted the reason. A first attempt's refusal is the
// caller's as it is. A later one was paid for, and is not all that happened.
func (c *call) refused() error {
	c.report.Note(func(s *backstay.Summary) { s.Attempts = c.attempt - 1 })
	if c.attempt == 1 {
		return c.err
	}
	c.policy.budget.Refund()
	o := c.before
	o.Final = true // there was no other attempt for a reason
	return &RefusedError{
		Name: c.policy.scope.Name(), Attempts: c.attempt - 1,
		Refusal: c.err, Last: c.failure, outcome: o,
	}
}

// verdict is the error that the caller gets.
func (c *call) verdict(ctx context.Context, d Decision) error {
	switch {
	case c.err == nil:
		return nil // the caller gets the last answer
	case d.Reason == backstay.ReasonNoTime, d.Reason == backstay.ReasonBudgetEmpty,
		d.Reason == backstay.ReasonExhausted && c.attempt > 1:
		return &ExhaustedError{
			Name:     c.policy.scope.Name(),
			Attempts: c.attempt,
			Elapsed:  c.clock().Sub(c.began),
			Reason:   d.Reason,
			Wait:     d.Wait,
			Last:     c.err,
		}
	case d.Reason == backstay.ReasonCanceled && c.failure != nil && ctx.Err() != nil:
		return c.canceled(ctx, c.err, c.failure)
	default:
		return c.err
	}
}

// suppressed tells that a retryable failure is not retried.
func (c *call) suppressed(ctx context.Context, d Decision, why error) {
	if c.policy.scope.Silent() {
		return
	}
	c.policy.scope.Emit(ctx, backstay.Event{
		Kind: backstay.RetrySuppressed, Attempt: c.attempt, Outcome: c.outcome,
		Err: why, Reason: d.Reason, Wait: d.Wait,
	})
}

// abandon ends a call whose ctx ended in a wait. The retry was paid for and is
// not made.
func (c *call) abandon(ctx context.Context) error {
	c.policy.budget.Refund()
	note(c.report, c.attempt, backstay.ReasonCanceled)
	last := c.err
	if last == nil {
		last = c.failure
	}
	return c.canceled(ctx, nil, last)
}

func (c *call) canceled(ctx context.Context, during, last error) error {
	return &canceledError{
		name: c.policy.scope.Name(), attempts: c.attempt,
		cause: backstay.ContextError(ctx), during: during, last: last,
	}
}

// unmade ends a call for whose next attempt no request could be made. The
// retry was paid for and is not made.
func (c *call) unmade(ctx context.Context, fork error) error {
	c.policy.budget.Refund()
	made := c.attempt - 1
	note(c.report, made, backstay.ReasonNotRepeatable)
	c.suppressed(ctx, Decision{Reason: backstay.ReasonNotRepeatable}, fork)
	return &forkError{
		name: c.policy.scope.Name(), attempt: c.attempt,
		fork: fork, last: c.failure, outcome: c.outcome,
	}
}

// refuse answers a call whose ctx ended before its first attempt.
func refuse(ctx context.Context) error {
	note(backstay.ReportFrom(ctx), 0, backstay.ReasonCanceled)
	return backstay.ContextError(ctx)
}
