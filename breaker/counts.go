package breaker

import "github.com/backstay-go/backstay"

// Why a breaker changed its state, as the Reason of the event.
const (
	ReasonFailureRatio backstay.Reason = "failure_ratio"        // too large a share of failures
	ReasonConsecutive  backstay.Reason = "consecutive_failures" // too many failures in a row
	ReasonSlowRatio    backstay.Reason = "slow_ratio"           // too large a share of slow calls
	ReasonProbing      backstay.Reason = "probing"              // the open period is over, a probe is on its way
	ReasonProbeFailed  backstay.Reason = "probe_failed"         // a probe failed
	ReasonProbesPassed backstay.Reason = "probes_passed"        // all probes succeeded
	ReasonManual       backstay.Reason = "manual"               // by hand: ForceOpen, ForceClosed, MetricsOnly, Reset
)

// Counts is what a breaker's window holds. A call may be failed, slow, both or
// neither; neutral calls are not in it.
type Counts struct {
	// Calls, Failures and Slow count the calls within the window.
	Calls, Failures, Slow int
	// Consecutive is the number of failures since the last call that did not
	// fail. In a small window of calls it ends at the window's size.
	Consecutive int
}

// Trip decides: it reports whether counts open the breaker, and by which rule.
// It is a pure function of the breaker's configuration. It is asked after each
// call that failed or was slow; a healthy call never opens a breaker.
func (b *Breaker) Trip(counts Counts) (bool, backstay.Reason) {
	if b == nil {
		return false, ""
	}
	return b.settings.Load().trip(counts)
}

func (s *settings) trip(c Counts) (bool, backstay.Reason) {
	switch {
	case s.Consecutive > 0 && c.Consecutive >= s.Consecutive:
		return true, ReasonConsecutive
	case c.Calls < s.MinCalls:
		return false, ""
	case s.FailureRatio > 0 && share(c.Failures, c.Calls) >= s.FailureRatio:
		return true, ReasonFailureRatio
	case s.SlowRatio > 0 && share(c.Slow, c.Calls) >= s.SlowRatio:
		return true, ReasonSlowRatio
	default:
		return false, ""
	}
}

// share divides rather than multiplies the ratio by calls: 11 of 20 is then
// exactly 0.55, as it was written.
func share(n, of int) float64 { return float64(n) / float64(of) }
