package console

import (
	"math"

	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/middleware"
)

// level is how much a pipeline needs somebody's attention, the most first.
type level uint8

const (
	down       level = iota // the breaker refuses calls
	recovering              // the breaker tries
	strained                // full, out of budget, or failing
	byHand                  // the breaker was put aside by hand
	well
	idle // well, and nobody calls
	shut // the pipeline is closed for good
	levels
)

var levelNames = [levels]string{"down", "recovering", "strained", "by-hand", "well", "idle", "shut"}

// String returns the level as it appears in the page and its queries.
func (l level) String() string { return levelNames[l] }

// levelNamed returns the level called name.
func levelNamed(name string) (level, bool) {
	for l, n := range levelNames {
		if n == name {
			return level(l), true
		}
	}
	return 0, false
}

const (
	// failing is the share of failures from which a pipeline is strained, if
	// enough calls tell.
	failing = 0.1
	// telling is how many that is.
	telling = 10
)

// load is what a pipeline went through lately.
type load struct {
	calls, failed uint64 // over which a rate is taken
	minute        uint64 // calls of all that is remembered
	faults        uint64 // injected on purpose, of all that is remembered
}

// failedShare returns which share of the calls failed; NaN where there were
// none.
func (l load) failedShare() float64 {
	if l.calls == 0 {
		return math.NaN()
	}
	return float64(l.failed) / float64(l.calls)
}

// judge decides how much attention a pipeline needs, and says in words why.
func judge(s middleware.Status, l load) (level, []string) {
	if s.Closed {
		return shut, []string{"closed for good"}
	}
	signs := signs(s, l)
	switch state := stateOf(s); {
	case state == breaker.Open.String() || state == breaker.ForcedOpen.String():
		return down, signs
	case state == breaker.HalfOpen.String():
		return recovering, signs
	case trouble(s, l):
		return strained, signs
	case state == breaker.ForcedClosed.String() || state == breaker.MetricsOnly.String():
		return byHand, signs
	case l.minute == 0 && !busy(s):
		return idle, signs
	default:
		return well, signs
	}
}

// trouble reports whether a pipeline is strained, whatever its breaker says.
func trouble(s middleware.Status, l load) bool {
	return full(s) || queueing(s) || broke(s) || failingNow(l)
}

// signs are the reasons beside the breaker's state, in words.
func signs(s middleware.Status, l load) (found []string) {
	for _, sign := range []struct {
		there bool
		words string
	}{
		{l.faults > 0, "faults injected"},
		{full(s), "bulkhead full"},
		{queueing(s), "calls queue"},
		{broke(s), "retry budget empty"},
		{failingNow(l), "failing"},
	} {
		if sign.there {
			found = append(found, sign.words)
		}
	}
	return found
}

func stateOf(s middleware.Status) string {
	if s.Breaker == nil {
		return ""
	}
	return s.Breaker.State
}

func full(s middleware.Status) bool {
	return s.Bulkhead != nil && s.Bulkhead.Limit >= 0 && s.Bulkhead.InFlight >= s.Bulkhead.Limit
}

func queueing(s middleware.Status) bool { return s.Bulkhead != nil && s.Bulkhead.Queued > 0 }

func broke(s middleware.Status) bool { return s.Budget != nil && s.Budget.Available < 1 }

func failingNow(l load) bool { return l.calls >= telling && l.failedShare() >= failing }

func busy(s middleware.Status) bool { return s.Bulkhead != nil && s.Bulkhead.InFlight > 0 }
