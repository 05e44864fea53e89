package retry

import (
	"github.com/cenkalti/backoff/v4"

	"github.com/backstay-go/backstay"
)

// Policy decides whether and when a call makes another attempt. It is safe for
// concurrent use; a nil *Policy never retries. What its calls share is the
// [Budget] alone, so a Policy without one has no state.
type Policy struct {
	*settings
	scope  *backstay.Scope
	budget *Budget
}

// settings are what a Policy and its clones have in common.
type settings struct {
	config Config // with defaults
	limits *limits
	series func() backoff.BackOff // nil: our own
	shared bool                   // the budget was given, and clones keep it
}

// Option gives a Policy a collaborator.
type Option func(*Policy)

// WithScope names the policy in events and errors, and says who is told.
func WithScope(s *backstay.Scope) Option { return func(p *Policy) { p.scope = s } }

// WithBudget makes the policy and its clones spend from b, which others may
// share, instead of from a budget of their own. nil means without a budget.
func WithBudget(b *Budget) Option {
	return func(p *Policy) { p.budget, p.shared = b, true }
}

// WithBackOff replaces the policy's own waits: Base, Cap and Multiplier have no
// effect then. series is called once in a call, when the first attempt has
// failed, and must return a value of its own each time, which is reset before
// use. NextBackOff gives the wait, to which a wait that the server asked for is
// added; backoff.Stop ends the call, other negative waits count as 0. Where
// series returns nil, the policy's own waits serve.
func WithBackOff(series func() backoff.BackOff) Option {
	return func(p *Policy) { p.series = series }
}

// New returns a Policy, or every fault of the configuration.
func New(c Config, options ...Option) (*Policy, error) {
	if err := c.Validate(); err != nil {
		return nil, backstay.Under("retry", err)
	}
	p := &Policy{settings: &settings{config: c.withDefaults(), limits: c.Budget.limits()}}
	for _, o := range options {
		o(p)
	}
	if !p.shared {
		p.budget = p.ownBudget()
	}
	return p, nil
}

// Clone returns a Policy with the same settings that acts for scope. It has a
// fresh budget of its own, unless p's was given by [WithBudget]. A clone takes
// 72 bytes.
func (p *Policy) Clone(scope *backstay.Scope) *Policy {
	if p == nil {
		return nil
	}
	clone := &Policy{settings: p.settings, scope: scope, budget: p.budget}
	if !p.shared {
		clone.budget = p.ownBudget()
	}
	return clone
}

func (s *settings) ownBudget() *Budget {
	if s.limits.off {
		return nil
	}
	return newBudget(s.limits)
}

// Config returns the configuration in force, defaults filled in.
func (p *Policy) Config() Config {
	if p == nil {
		return Config{MaxAttempts: 1}
	}
	return p.config
}

// Budget returns what the policy's retries are spent from; nil, which refuses
// nothing, if there is no budget.
func (p *Policy) Budget() *Budget {
	if p == nil {
		return nil
	}
	return p.budget
}
