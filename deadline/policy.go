package deadline

import (
	"context"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/lazyctx"
)

// Policy bounds whole calls. It is immutable and safe for concurrent use; a
// nil *Policy bounds nothing.
type Policy struct {
	config Config
	scope  *backstay.Scope
}

// Option gives a Policy a collaborator.
type Option func(*Policy)

// WithScope names the policy in errors.
func WithScope(s *backstay.Scope) Option { return func(p *Policy) { p.scope = s } }

// New returns a Policy, or every fault of the configuration.
func New(c Config, options ...Option) (*Policy, error) {
	if err := c.Validate(); err != nil {
		return nil, backstay.Under("deadline", err)
	}
	p := &Policy{config: c.withDefaults()}
	for _, o := range options {
		o(p)
	}
	return p, nil
}

// Budget is what a call may take, as decided at its start.
type Budget struct {
	// Limit is the bound to put on the call; 0 where the caller's own
	// deadline serves as it is.
	Limit time.Duration
	// Late is true where the call must be refused: Left is less than Need.
	Late bool
	// Left is what the call would have, after the reserve.
	Left time.Duration
}

// Plan is the decision: what a call may take that starts with remaining left
// of the caller's deadline (bounded is false if there is none).
func (p *Policy) Plan(remaining time.Duration, bounded bool) Budget {
	c := &p.config
	if !bounded {
		if c.Total == NoTotal {
			return Budget{}
		}
		return Budget{Limit: c.Total, Left: c.Total}
	}
	left := remaining
	if left > 0 { // else it has passed anyway, and one of long ago would wrap around
		left -= c.Reserve
	}
	switch {
	case left <= 0 || left < c.Need:
		return Budget{Left: left, Late: true}
	case c.Total != NoTotal && c.Total < left:
		return Budget{Limit: c.Total, Left: c.Total}
	case c.Reserve > 0:
		return Budget{Limit: left, Left: left}
	default:
		return Budget{Left: left}
	}
}

// Run calls next under the bounds of p. A call that comes too late is refused
// with a [TooLateError]; one whose context is canceled gets the context's
// error; neither reaches next. Where the bound of p itself ends the call, the
// error is an [Error].
func Run[Q, R any](ctx context.Context, p *Policy, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	if p == nil {
		return next(ctx, q)
	}
	return RunAt(ctx, backstay.Now(), p, x, q, next)
}

// RunAt is Run for a call that began at began, for callers that have read the
// clock already.
func RunAt[Q, R any](ctx context.Context, began backstay.Instant, p *Policy, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	if p == nil {
		return next(ctx, q)
	}
	end, bounded := ctx.Deadline()
	var remaining time.Duration
	if bounded {
		remaining = began.Until(end)
	}
	b := p.Plan(remaining, bounded)
	if b.Limit > 0 && unbounded(ctx) {
		b = p.withoutTotal().Plan(remaining, bounded)
	}
	if err := ctx.Err(); err != nil || b.Late {
		var none R
		return none, p.refuse(ctx, b)
	}
	if b.Limit == 0 {
		return next(ctx, q)
	}
	return within(lazyctx.NewOuter(ctx, began.Add(b.Limit)), b.Limit, p, x, q, next)
}

type unboundedKey struct{}

// Unbounded returns a context whose calls are bounded by the caller's own
// deadline alone, whatever Total says: for a stream or a connection that is
// meant to stay open.
func Unbounded(ctx context.Context) context.Context {
	return context.WithValue(ctx, unboundedKey{}, true)
}

func unbounded(ctx context.Context) bool { return ctx.Value(unboundedKey{}) != nil }

// withoutTotal returns p with the caller's deadline as its only bound.
func (p *Policy) withoutTotal() *Policy {
	open := Policy{config: p.config}
	open.config.Total = NoTotal
	return &open
}

// refuse returns the error of a call that is not made, and tells of it.
func (p *Policy) refuse(ctx context.Context, b Budget) error {
	if ctx.Err() != nil && !b.Late {
		backstay.Note(ctx, func(s *backstay.Summary) { s.Reason = backstay.ReasonCanceled })
		return backstay.ContextError(ctx)
	}
	err := &TooLateError{Name: p.scope.Name(), Remaining: b.Left, Need: p.config.Need}
	backstay.Note(ctx, func(s *backstay.Summary) { s.Reason = backstay.ReasonTooLate })
	p.scope.Emit(ctx, backstay.Event{
		Kind: backstay.CallRejected, Reason: backstay.ReasonTooLate, Err: err, Outcome: err.Outcome(),
	})
	return err
}

// within calls next under c, whose limit is d after its beginning.
func within[Q, R any](c *lazyctx.Ctx, d time.Duration, p *Policy, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	bound := false
	defer func() {
		if !bound {
			c.Cancel() // also where next panics or exits its goroutine
		}
	}()
	r, err := next(c, q)
	if !c.Expired() {
		if err == nil {
			bound = true
			r = x.Bind(r, c)
		}
		return r, err
	}
	if err == nil {
		x.Discard(r)
	}
	backstay.Note(c, noteExpired)
	var none R
	return none, &Error{Name: p.scope.Name(), Total: d, Err: err}
}

// noteExpired mends the reason: to those inside it looked as if the caller had
// left. A refusal in a queue stays what it is.
func noteExpired(s *backstay.Summary) {
	if s.Reason == "" || s.Reason == backstay.ReasonCanceled {
		s.Reason = backstay.ReasonNoTime
	}
}

// Do calls f under the bounds of p, as [Run] does.
func Do[T any](ctx context.Context, p *Policy, f func(context.Context) (T, error)) (T, error) {
	return Run(ctx, p, backstay.Plain[T]{}, struct{}{}, func(ctx context.Context, _ struct{}) (T, error) {
		return f(ctx)
	})
}
