package middleware

import (
	"errors"
	"fmt"
	"reflect"

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

// plan is what one configuration makes of the pipelines of a house: the
// policies that have no state of their own, and the prototypes of those that
// have. It does not change.
type plan struct {
	*house
	// number counts the configurations that the house has had.
	number int
	// shut is set in the copy that a pipeline gets that was closed by itself.
	shut   bool
	target Target
	// settings are what the protocol makes of target; see [WithSettings].
	settings    any
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
}

// newPlan makes the policies of t, or returns every fault of its configuration.
// Sections that are those of before, nil if there was nothing before, keep
// their policies.
func (h *house) newPlan(t Target, before *plan) (*plan, error) {
	if err := t.Validate(); err != nil {
		return nil, underMiddleware(t, err)
	}
	pl := &plan{house: h, target: t}
	was := new(plan)
	if before != nil {
		pl.number, was = before.number+1, before
	}
	err := pl.build(t.joined().Config, was.target.joined().Config, was)
	if h.derive != nil && err == nil {
		pl.settings, err = h.derive(t)
	}
	return pl, err
}

// underMiddleware says where the faults of t are.
func underMiddleware(t Target, err error) error {
	if t.unbuildable != nil {
		return fmt.Errorf("middleware: %w", err)
	}
	return backstay.Under("middleware", err)
}

// build makes every policy that c has a section for.
func (pl *plan) build(c, had Config, was *plan) error {
	s := &backstay.Scope{Policy: pl.name, Observer: pl.observer}
	if c.Fallback != nil {
		pl.fallback = *c.Fallback
	}
	return errors.Join(
		make1(&pl.deadline, c.Deadline, was.deadline, had.Deadline, func(c deadline.Config) (*deadline.Policy, error) {
			return deadline.New(c, deadline.WithScope(s))
		}),
		make1(&pl.idempotency, c.Idempotency, was.idempotency, had.Idempotency, func(c idempotency.Config) (*idempotency.Policy, error) {
			return idempotency.New(c)
		}),
		make1(&pl.prototype.timeout, c.Timeout, was.prototype.timeout, had.Timeout, func(c timeout.Config) (*timeout.Policy, error) {
			return timeout.New(c, timeout.WithScope(s))
		}),
		make1(&pl.prototype.retry, c.Retry, was.prototype.retry, had.Retry, func(c retry.Config) (*retry.Policy, error) {
			if pl.budget == nil {
				return retry.New(c, retry.WithScope(s))
			}
			return retry.New(c, retry.WithScope(s), retry.WithBudget(pl.budget))
		}),
		make1(&pl.prototype.hedge, c.Hedge, was.prototype.hedge, had.Hedge, func(c hedge.Config) (*hedge.Policy, error) {
			return hedge.New(c, hedge.WithScope(s))
		}),
		make1(&pl.prototype.breaker, c.Breaker, was.prototype.breaker, had.Breaker, func(c breaker.Config) (*breaker.Breaker, error) {
			return breaker.New(c, breaker.WithScope(s))
		}),
		make1(&pl.prototype.bulkhead, c.Bulkhead, was.prototype.bulkhead, had.Bulkhead, func(c bulkhead.Config) (*bulkhead.Bulkhead, error) {
			return bulkhead.New(c, bulkhead.WithScope(s))
		}),
	)
}

// make1 makes one policy from its section c, or leaves it out. Where the
// section is the one that there was, so is the policy.
func make1[C, P any](p **P, c *C, was *P, had *C, with func(C) (*P, error)) (err error) {
	switch {
	case c == nil:
		return nil
	case had != nil && reflect.DeepEqual(c, had):
		*p = was
		return nil
	}
	*p, err = with(*c)
	return err
}

// closed returns the plan of a pipeline that was closed by itself.
func (pl *plan) closed() *plan {
	c := *pl
	c.shut = true
	return &c
}

// refuses reports whether the pipeline, or the house it is of, was closed.
func (pl *plan) refuses() bool { return pl.shut || pl.gone.Load() }
