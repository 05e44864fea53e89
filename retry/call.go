package retry

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/backstay-go/backstay"
)

// call is what a call keeps from its first failure on. Calls that succeed at
// once never have one.
type call struct {
	policy *Policy
	report *backstay.Report // nil if nobody asked for one
	series backoff.BackOff  // nil until used, and where the policy has none

	attempt      int // the current one, from 1
	outcome      backstay.Outcome
	err          error
	unrepeatable error
	failure      error            // the latest error of an attempt before the current one
	before       backstay.Outcome // of the attempt before the current one

	began  backstay.Instant
	now    backstay.Instant // 0: not read since the attempt ended
	step   int              // in the backoff series, from 1
	limit  int              // of attempts, from ctx; 0: the policy's
	nested bool
}

// begin returns the call after its first attempt. What ctx says about retries
// is looked up here, so that a success does not pay for it.
func begin(ctx context.Context, p *Policy, began backstay.Instant, o backstay.Outcome, err error) call {
	c := call{policy: p, report: backstay.ReportFrom(ctx), attempt: 1, step: 1, began: began}
	c.ended(o, err)
	if !o.Class.Retryable() {
		return c
	}
	if c.began == 0 {
		c.began = c.clock()
	}
	c.limit, c.nested = maxAttempts(ctx), Suppressed(ctx)
	return c
}

// ended takes down how the current attempt ended.
func (c *call) ended(o backstay.Outcome, err error) {
	c.outcome, c.err, c.now = o, err, 0
	if o.Class.Retryable() && err != nil && errors.Is(err, permanent) {
		c.outcome.Final = true
	}
}

// permanent matches every error of backoff.Permanent.
var permanent = &backoff.PermanentError{}

// clock returns when the current attempt ended, and reads it at most once.
func (c *call) clock() backstay.Instant {
	if c.now == 0 {
		c.now = backstay.Now()
	}
	return c.now
}

// decide asks the policy, then whether another attempt would be let through at
// all, and if everything else allows a retry, the budget.
func (c *call) decide(ctx context.Context, open func() bool) Decision {
	s := State{
		Attempt: c.attempt, MaxAttempts: c.limit, Outcome: c.outcome,
		Nested: c.nested, Unrepeatable: c.unrepeatable,
	}
	if c.outcome.Class.Retryable() {
		s.Backoff = c.backoff()
		if end, bounded := ctx.Deadline(); bounded {
			s.Remaining, s.Bounded = c.clock().Until(end), true
		}
	}
	d := c.policy.Next(s)
	if d.Retry && open != nil && !open() {
		return Decision{Reason: backstay.ReasonBreakerOpen}
	}
	if d.Retry && !c.policy.budget.TrySpend() {
		return Decision{Reason: backstay.ReasonBudgetEmpty}
	}
	return d
}

// backoff returns our own wait after the current attempt.
func (c *call) backoff() time.Duration {
	if c.series == nil && c.policy.series != nil {
		if c.series = c.policy.series(); c.series != nil {
			c.series.Reset()
		}
	}
	if c.series != nil {
		return c.series.NextBackOff()
	}
	return c.policy.Backoff(c.step, rand.Uint64())
}

// plan tells that another attempt will follow.
func (c *call) plan(ctx context.Context, d Decision) {
	if c.policy.scope.Silent() {
		return
	}
	c.policy.scope.Emit(ctx, backstay.Event{
		Kind: backstay.RetryPlanned, Attempt: c.attempt, Outcome: c.outcome, Err: c.err, Wait: d.Wait,
	})
}

// proceed goes on to the next attempt, after the wait of d, and returns its
// number.
func (c *call) proceed(d Decision) int {
	if c.report != nil {
		c.report.Note(func(s *backstay.Summary) { s.Waits = append(s.Waits, d.Wait) })
	}
	c.attempt++
	c.step++
	if d.Restart {
		c.step = 1
		if c.series != nil {
			c.series.Reset()
		}
	}
	if c.err != nil {
		c.failure = c.err
	}
	c.before = c.outcome
	return c.attempt
}
