package retry

import (
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/backstay-go/backstay"
)

// State is what a [Policy] looks at after an attempt.
type State struct {
	// Attempt is the number of the attempt that ended, from 1, and Outcome
	// how it ended.
	Attempt int
	Outcome backstay.Outcome
	// MaxAttempts is what the call asks for in place of the configured
	// number; 0 if it does not.
	MaxAttempts int
	// Nested is true where a layer above retries, see [Suppress].
	Nested bool
	// Unrepeatable says why the request must not be sent again; nil if it may.
	Unrepeatable error
	// Backoff is the wait that we would keep on our own: [Policy.Backoff], or
	// what a backoff.BackOff gave, with backoff.Stop for no more attempts.
	Backoff time.Duration
	// Remaining is what is left of the caller's deadline, if Bounded.
	Remaining time.Duration
	Bounded   bool
}

// Decision says what follows an attempt.
type Decision struct {
	// Retry is true if another attempt follows after Wait.
	Retry bool
	// Wait is also set with [backstay.ReasonNoTime]: it is what did not fit.
	Wait time.Duration
	// Restart is true if the backoff series begins anew after Wait.
	Restart bool
	// Reason says why there is no other attempt. It is empty with Retry, after
	// a success, and after a rejection, which has a reason of its own.
	Reason backstay.Reason
}

// Next is the decision, except for the [Budget], which is asked after it. It
// reads nothing but s and the configuration.
func (p *Policy) Next(s State) Decision {
	if p == nil {
		s.MaxAttempts, p = 1, &absent
	}
	switch o := s.Outcome; {
	case o.Class == backstay.Success, o.Class == backstay.Rejected:
		return Decision{}
	case o.Class == backstay.Canceled:
		return Decision{Reason: backstay.ReasonCanceled}
	case !o.Class.Retryable(), o.Final:
		return Decision{Reason: backstay.ReasonDoNotRetry}
	case s.Attempt >= p.attempts(s), s.Backoff == backoff.Stop && !o.Pushback:
		return Decision{Reason: backstay.ReasonExhausted}
	case s.Nested && !p.config.RetryNested:
		return Decision{Reason: backstay.ReasonNested}
	case s.Unrepeatable != nil:
		return Decision{Reason: backstay.ReasonNotRepeatable}
	}
	wait, accepted := p.wait(s)
	if !accepted || !p.fits(wait, s) {
		return Decision{Wait: wait, Reason: backstay.ReasonNoTime}
	}
	return Decision{Retry: true, Wait: wait, Restart: s.Outcome.Pushback}
}

// absent is what a nil Policy decides as.
var absent = Policy{settings: new(settings)}

// attempts is how many the call may make.
func (p *Policy) attempts(s State) int {
	if s.MaxAttempts > 0 {
		return s.MaxAttempts
	}
	return p.config.MaxAttempts
}

// wait is the server's wait and ours together, so that clients that were told
// the same do not come back at the same time. It is not accepted if the server
// asks for more than MaxServerWait.
func (p *Policy) wait(s State) (d time.Duration, accepted bool) {
	theirs, ours := max(s.Outcome.RetryAfter, 0), max(s.Backoff, 0)
	if theirs == 0 && !s.Outcome.Pushback {
		return ours, true
	}
	room := max(p.config.MaxServerWait, 0) - theirs
	switch {
	case room < 0:
		return theirs, false
	case s.Outcome.Pushback:
		return theirs, true
	case ours > room:
		ours %= room + 1 // folded, not cut: a cut would end for many in one instant
	}
	return theirs + ours, true
}

// fits reports whether there is time for the wait and an attempt after it.
func (p *Policy) fits(wait time.Duration, s State) bool {
	least := p.config.MinAttemptTime
	return !s.Bounded || (s.Remaining >= least && wait <= s.Remaining-least)
}
