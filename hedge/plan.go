package hedge

import (
	"time"

	"github.com/backstay-go/backstay"
)

// State is what [Policy.Plan] decides from.
type State struct {
	// Copies is how many copies of the call were sent, the first included.
	Copies int
	// Percentile is the live percentile of recent successes; 0 while there are
	// too few. A fixed delay does not look at it.
	Percentile time.Duration
	// Tokens is how many copies the policy's own budget pays for.
	Tokens float64
	// Suspended is true while the gate says no.
	Suspended bool
}

// Plan is the decision whether a call may have another copy, and after which
// delay. ok is false while hedging is off: all copies were sent, the gate or
// the budget says no, too few successes were seen, or their percentile has
// reached the ceiling.
func (p *Policy) Plan(s State) (delay time.Duration, ok bool) {
	if p == nil {
		return 0, false
	}
	c := &p.settings.Config
	switch {
	case s.Copies > c.MaxCopies, s.Suspended, s.Tokens < 1:
		return 0, false
	case c.Delay > 0:
		return c.Delay, true
	case s.Percentile <= 0, s.Percentile >= c.Ceiling:
		return 0, false
	default:
		return max(s.Percentile, c.Floor), true
	}
}

// decides reports whether the end of one copy is the end of the race: an
// answer, or a failure that every other copy would meet as well. After other
// failures, and after a refusal to send that one copy, another copy may do
// better.
func decides(o backstay.Outcome) bool {
	return !o.Class.Retryable() && o.Class != backstay.Rejected
}

// hastens reports whether the end of one copy is a reason to send the next
// before its time. An overloaded server is not asked again at once, nor one
// that named a wait or asked not to be asked.
func hastens(o backstay.Outcome) bool {
	return o.Class == backstay.Transient && o.RetryAfter == 0 && !o.Final
}

// better reports whether the end o of a later copy tells the caller more than
// best, that of an earlier one: only where the earlier one was never sent.
func better(o, best backstay.Outcome) bool {
	return best.Class == backstay.Rejected && o.Class.Retryable()
}
