package middleware

import (
	"errors"
	"sync/atomic"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// plan is what the pipelines of one registry share: the policies that have no
// state of their own, and the prototypes of those that have.
type plan struct {
	name        string
	observer    backstay.Observer
	tracer      backstay.Tracer // nil if the observer is none
	fallback    fallback.Config
	deadline    *deadline.Policy
	idempotency *idempotency.Policy
	prototype   struct {
		retry    *retry.Policy
		hedge    *hedge.Policy
		breaker  *breaker.Breaker
		bulkhead *bulkhead.Bulkhead
		timeout  *timeout.Policy // serves as it is where it does not abandon
	}
	closed atomic.Bool // closes every pipeline of the plan, also those yet to be made
}

// Option gives a pipeline or a registry a collaborator.
type Option func(*options)

type options struct {
	observer backstay.Observer
	budget   *retry.Budget
}

// WithObserver tells o of every event; if it is a [backstay.Tracer] too, it is
// asked for the contexts of calls and attempts.
func WithObserver(o backstay.Observer) Option {
	return func(all *options) { all.observer = backstay.Observers(all.observer, o) }
}

// WithRetryBudget makes all pipelines share b, in place of one budget each.
func WithRetryBudget(b *retry.Budget) Option { return func(all *options) { all.budget = b } }

// newPlan makes the policies of t, or returns every fault of its configuration.
func newPlan(t Target, set []Option) (*plan, error) {
	if err := t.Validate(); err != nil {
		return nil, backstay.Under("middleware", err)
	}
	var o options
	for _, f := range set {
		f(&o)
	}
	pl := &plan{name: t.Name, observer: o.observer}
	pl.tracer, _ = o.observer.(backstay.Tracer)
	scope := &backstay.Scope{Policy: t.Name, Observer: o.observer}
	return pl, pl.build(t.joined().Config, scope, o.budget)
}

// build makes every policy that c has a section for.
func (pl *plan) build(c Config, s *backstay.Scope, shared *retry.Budget) error {
	if c.Fallback != nil {
		pl.fallback = *c.Fallback
	}
	return errors.Join(
		make1(&pl.deadline, c.Deadline, func(c deadline.Config) (*deadline.Policy, error) {
			return deadline.New(c, deadline.WithScope(s))
		}),
		make1(&pl.idempotency, c.Idempotency, func(c idempotency.Config) (*idempotency.Policy, error) {
			return idempotency.New(c)
		}),
		make1(&pl.prototype.timeout, c.Timeout, func(c timeout.Config) (*timeout.Policy, error) {
			return timeout.New(c, timeout.WithScope(s))
		}),
		make1(&pl.prototype.retry, c.Retry, func(c retry.Config) (*retry.Policy, error) {
			if shared == nil {
				return retry.New(c, retry.WithScope(s))
			}
			return retry.New(c, retry.WithScope(s), retry.WithBudget(shared))
		}),
		make1(&pl.prototype.hedge, c.Hedge, func(c hedge.Config) (*hedge.Policy, error) {
			return hedge.New(c, hedge.WithScope(s))
		}),
		make1(&pl.prototype.breaker, c.Breaker, func(c breaker.Config) (*breaker.Breaker, error) {
			return breaker.New(c, breaker.WithScope(s))
		}),
		make1(&pl.prototype.bulkhead, c.Bulkhead, func(c bulkhead.Config) (*bulkhead.Bulkhead, error) {
			return bulkhead.New(c, bulkhead.WithScope(s))
		}),
	)
}

// make1 makes one policy from its section, or leaves it out.
func make1[C, P any](p **P, c *C, with func(C) (*P, error)) (err error) {
	if c == nil {
		return nil
	}
	*p, err = with(*c)
	return err
}
