package middleware

import (
	"fmt"
	"slices"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// validateTogether checks what no section can see alone: settings that each
// make sense and together cannot work.
func (c Config) validateTogether() error {
	return backstay.Check(slices.Concat(c.timeRules(), c.hedgeRules())...)
}

// timeRules are those about how long things may take.
func (c Config) timeRules() []backstay.Setting {
	total, attempt := c.total(), c.attempt()
	rules := []backstay.Setting{
		atMost(attempt, total, "an attempt cannot outlast its call"),
	}
	if c.Retry != nil {
		least := boundOf("retry.min_attempt_time", c.Retry.MinAttemptTime, retry.DefaultMinAttemptTime)
		rules = append(rules, atMost(least, total, "else no retry would ever fit"))
	}
	if c.Bulkhead != nil {
		queued := boundOf("bulkhead.max_wait", c.Bulkhead.MaxWait, 0)
		rules = append(rules, atMost(queued, total, "nobody waits longer than the call may take"))
	}
	if c.Breaker != nil {
		slow := boundOf("breaker.slow_after", c.Breaker.SlowAfter, 0)
		lease := boundOf("breaker.probe_lease", c.Breaker.ProbeLease, 0)
		rules = append(rules,
			atMost(slow, attempt, "an attempt is cut before it could be slow"),
			atMost(c.longest(), lease, "a probe must not lose its place while its attempt may go on"))
	}
	return rules
}

// hedgeRules are those about copies.
func (c Config) hedgeRules() []backstay.Setting {
	if c.Hedge == nil {
		return nil
	}
	delay := boundOf("hedge.delay", c.Hedge.Delay, 0)
	if delay.d == 0 {
		delay = boundOf("hedge.floor", c.Hedge.Floor, hedge.DefaultFloor)
	}
	return []backstay.Setting{
		below(delay, c.longest(), "else the first copy is over before another is sent"),
		{
			Path: "bulkhead.limit", Value: 1,
			Valid:   c.Bulkhead == nil || c.Bulkhead.Limit != 1 || c.Bulkhead.Adaptive != nil,
			Allowed: "must be at least 2 beside hedging: a copy needs a permit of its own",
		},
	}
}

// bound is a setting that is a length of time.
type bound struct {
	path string
	d    time.Duration // not positive: off, or a fault that its section names
	set  bool          // in the configuration, not by default
}

func boundOf(path string, value, otherwise time.Duration) bound {
	if value == 0 {
		return bound{path: path, d: otherwise}
	}
	return bound{path: path, d: value, set: true}
}

// total bounds a whole call.
func (c Config) total() bound {
	if c.Deadline == nil {
		return bound{}
	}
	return boundOf("deadline.total", c.Deadline.Total, deadline.DefaultTotal)
}

// attempt bounds one attempt.
func (c Config) attempt() bound {
	if c.Timeout == nil {
		return bound{}
	}
	return boundOf("timeout.after", c.Timeout.After, timeout.DefaultAfter)
}

// longest is what an attempt can take at most: its own bound, or its call's.
func (c Config) longest() bound {
	if attempt := c.attempt(); attempt.d > 0 {
		return attempt
	}
	return c.total()
}

// atMost is the rule that low does not exceed high, where there are both.
func atMost(low, high bound, why string) backstay.Setting {
	return order(low, high, low.d <= high.d, "at most", "at least", why)
}

// below is the rule that low is less than high.
func below(low, high bound, why string) backstay.Setting {
	return order(low, high, low.d < high.d, "less than", "more than", why)
}

// order is the rule that low and high are in order. The fault is put where the
// configuration says something: at low, unless that is a default.
func order(low, high bound, valid bool, under, over, why string) backstay.Setting {
	at, other, relation := low, high, under
	if !low.set && high.set {
		at, other, relation = high, low, over
	}
	return backstay.Setting{
		Path: at.path, Value: at.d, Valid: valid || low.d <= 0 || high.d <= 0,
		Allowed: fmt.Sprintf("must be %s %v: %s", relation, other, why),
	}
}

// String names the setting and its value.
func (b bound) String() string {
	if b.set {
		return fmt.Sprintf("%s, which is %v", b.path, b.d)
	}
	return fmt.Sprintf("%s, which is %v by default", b.path, b.d)
}

// longestBreakerTime is the longest that the settings of a breaker take.
const longestBreakerTime = 24 * time.Hour

// joined returns t with what one section takes over from another. Half the
// attempt timeout is how long an attempt must have run for the caller's
// deadline, cutting it, to speak against the backend; and a probe keeps its
// place for as long as its attempt may take.
func (t Target) joined() Target {
	if t.Breaker == nil {
		return t
	}
	b := *t.Breaker
	if attempt := t.attempt(); b.SlowAfter == 0 && attempt.d > 0 {
		b.SlowAfter = min(attempt.d/2, longestBreakerTime)
	}
	if longest := t.longest(); b.ProbeLease == 0 && longest.d > breaker.DefaultProbeLease {
		b.ProbeLease = min(longest.d, longestBreakerTime)
	}
	t.Breaker = &b
	return t
}
