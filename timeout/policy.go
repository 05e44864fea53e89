package timeout

import (
	"context"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/drain"
)

// Policy bounds attempts in time. It is safe for concurrent use; a nil *Policy
// bounds nothing.
type Policy struct {
	config Config
	scope  *backstay.Scope
	late   drain.Group // attempts that may outlive their callers
}

// Option gives a Policy a collaborator.
type Option func(*Policy)

// WithScope names the policy in errors.
func WithScope(s *backstay.Scope) Option { return func(p *Policy) { p.scope = s } }

// New returns a Policy, or every fault of the configuration.
func New(c Config, options ...Option) (*Policy, error) {
	if err := c.Validate(); err != nil {
		return nil, backstay.Under("timeout", err)
	}
	p := &Policy{config: c.withDefaults()}
	for _, o := range options {
		o(p)
	}
	return p, nil
}

// Clone returns a Policy of the same configuration for another key, with
// abandoned attempts of its own. Closing p also closes its clones; closing a
// clone leaves p and the other clones alone. The clone of a nil Policy is nil.
func (p *Policy) Clone(scope *backstay.Scope) *Policy {
	if p == nil {
		return nil
	}
	clone := &Policy{config: p.config, scope: scope}
	clone.late.Under(&p.late)
	return clone
}

// Late returns how many attempts run on goroutines of their own, which is what
// every attempt does that may be abandoned.
func (p *Policy) Late() int {
	if p == nil {
		return 0
	}
	return p.late.Len()
}

// Abandons reports whether p was configured to abandon attempts at their limit.
func (p *Policy) Abandons() bool { return p != nil && p.config.Abandon }

// After returns the configured limit of an attempt, [Off] if there is none.
func (p *Policy) After() time.Duration {
	if p == nil {
		return Off
	}
	return p.config.After
}

// Limit is the decision: the limit to put on an attempt that starts with
// remaining left of the caller's deadline (bounded is false if there is none).
// ok is false where no limit is needed, because it is off or because the
// caller's own deadline comes no later.
func Limit(after, remaining time.Duration, bounded bool) (d time.Duration, ok bool) {
	if after == Off || (bounded && remaining <= after) {
		return 0, false
	}
	return after, true
}

type withKey struct{}

// With returns a context whose attempts are bounded by d in place of the
// configured limit; [Off] takes the limit away. A d of zero or less that is
// not Off is ignored.
func With(ctx context.Context, d time.Duration) context.Context {
	if d <= 0 && d != Off {
		return ctx
	}
	return context.WithValue(ctx, withKey{}, d)
}

// AfterUnder returns the limit that counts for attempts under ctx: what [With]
// says there, or else the configured one; [Off] if there is none. It is for
// protocols that have to bound a part of an attempt themselves.
func (p *Policy) AfterUnder(ctx context.Context) time.Duration {
	if p == nil {
		return Off
	}
	return p.after(ctx)
}

// after is AfterUnder for a policy that is there.
func (p *Policy) after(ctx context.Context) time.Duration {
	if d, ok := ctx.Value(withKey{}).(time.Duration); ok {
		return d
	}
	return p.config.After
}
