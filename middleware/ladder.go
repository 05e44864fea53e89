package middleware

import "github.com/backstay-go/backstay/fallback"

// NewLadder returns the ladder of rungs, best first, for calls through p: with
// the fallback section of p's target, on p's behalf. Its errors tell every
// fault of the rungs; rungs for a target that is marked fail_closed are one.
// It serves [DoOr], [Race] and [Run]; close it if a cached rung refreshes.
func NewLadder[Q, R any](p *Pipeline, rungs []fallback.Rung[Q, R], options ...fallback.Option) (*fallback.Ladder[Q, R], error) {
	if p == nil {
		return fallback.New(fallback.Config{}, rungs, options...)
	}
	own := []fallback.Option{fallback.WithScope(&p.scope)}
	return fallback.New(p.now().fallback, rungs, append(own, options...)...)
}

// permitted returns l, unless v must fail closed, whoever made the ladder.
func permitted[Q, R any](v *version, l *fallback.Ladder[Q, R]) *fallback.Ladder[Q, R] {
	if v.fallback.FailClosed {
		return nil
	}
	return l
}
