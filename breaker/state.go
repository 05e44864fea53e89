package breaker

// State is what a breaker does with calls.
type State uint8

const (
	// Closed admits every call and counts how it ends.
	Closed State = iota
	// Open rejects every call until its time is over.
	Open
	// HalfOpen admits probes, and rejects the calls beyond them.
	HalfOpen
	// ForcedOpen rejects every call until [Breaker.Reset].
	ForcedOpen
	// ForcedClosed admits every call and counts none until [Breaker.Reset].
	ForcedClosed
	// MetricsOnly admits and counts every call, and never opens, until
	// [Breaker.Reset].
	MetricsOnly
)

var stateNames = [...]string{
	Closed:       "closed",
	Open:         "open",
	HalfOpen:     "half-open",
	ForcedOpen:   "forced-open",
	ForcedClosed: "forced-closed",
	MetricsOnly:  "metrics-only",
}

// String returns the state as it appears in events, for example "half-open".
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}
