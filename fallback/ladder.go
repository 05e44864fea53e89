package fallback

import (
	"context"
	"errors"
	"slices"

	"github.com/backstay-go/backstay"
)

// Ladder answers in place of a call that failed, by the first of its rungs
// that can. Make one with [New], use it with [Run], [Do] or [DoFor], for as
// many goroutines as you like, and [Ladder.Close] it if it has a cached rung
// that refreshes. A nil *Ladder means that there is no fallback: calls are
// just made.
type Ladder[Q, R any] struct {
	config  Config
	rungs   []Rung[Q, R]
	memory  memory[Q, R] // nil without a cached rung
	flights flights
	scope   *backstay.Scope
	when    func(backstay.Outcome, error) bool
}

// Option gives a [Ladder] something that is not data.
type Option func(*options)

type options struct {
	scope *backstay.Scope
	when  func(backstay.Outcome, error) bool
}

// WithScope names the ladder in errors and events, and says who is told.
func WithScope(scope *backstay.Scope) Option {
	return func(o *options) { o.scope = scope }
}

// When says which failures the ladder answers for, in place of [Failed]. It is
// asked about every end but success and canceled, so it may also admit
// permanent ones. If it panics, that is told and Failed decides.
func When(f func(o backstay.Outcome, err error) bool) Option {
	return func(opts *options) { opts.when = f }
}

// New makes a Ladder of rungs, best first. Its errors tell every fault of c
// and of the rungs at once, each as a [backstay.FieldError].
func New[Q, R any](c Config, rungs []Rung[Q, R], opts ...Option) (*Ladder[Q, R], error) {
	if err := errors.Join(append(faults(c, rungs), c.Validate())...); err != nil {
		return nil, backstay.Under("fallback", err)
	}
	given := options{when: Failed}
	for _, option := range opts {
		option(&given)
	}
	if given.when == nil {
		given.when = Failed
	}
	c.Cache = c.Cache.withDefaults()
	l := &Ladder[Q, R]{config: c, rungs: slices.Clone(rungs), scope: given.scope, when: given.when}
	l.flights.limit = c.Cache.MaxRefreshes
	for _, rung := range rungs {
		if rung.cache != nil {
			l.memory = rung.cache(owner{config: c.Cache, scope: l.scope, flights: &l.flights})
		}
	}
	return l, nil
}

// Close cancels the refreshes that are running, whose values nobody would
// read, starts no more, and waits until they are gone or ctx ends; then its
// error matches that of ctx and its cause. The ladder itself goes on answering. Close may be
// called more than once, but not from a refresh.
func (l *Ladder[Q, R]) Close(ctx context.Context) error {
	if l == nil {
		return nil
	}
	return l.flights.close(ctx, l.scope.Name())
}
