package breaker

import (
	"errors"
	"time"

	"github.com/backstay-go/backstay"
)

// ErrOpen is matched, through errors.Is, by every rejection of a breaker.
var ErrOpen = errors.New("breaker: open")

// OpenError says that a breaker rejected a call: it was not sent. It matches
// [ErrOpen] and [backstay.ErrRejected].
type OpenError struct {
	// Name is the breaker's, from its scope.
	Name string
	// RetryAfter is the time after which a probe is let through; 0 where that
	// is not known, because probes are under way or the breaker is held open
	// by hand.
	RetryAfter time.Duration
	// State is why: Open, HalfOpen (all probes are taken) or ForcedOpen.
	State State
}

// Error reads, for example, "breaker payments[db]: open, next probe in 4.2s".
func (e *OpenError) Error() string {
	who := "breaker"
	if e.Name != "" {
		who += " " + e.Name
	}
	switch {
	case e.State == ForcedOpen:
		return who + ": held open by hand"
	case e.State == HalfOpen:
		return who + ": half-open, its probes are under way"
	case e.RetryAfter > time.Second:
		return who + ": open, next probe in " + e.RetryAfter.Round(time.Millisecond).String()
	default:
		return who + ": open, next probe in " + e.RetryAfter.String()
	}
}

// Is reports whether target is [ErrOpen] or [backstay.ErrRejected].
func (e *OpenError) Is(target error) bool {
	return target == ErrOpen || target == backstay.ErrRejected
}

// Outcome is a rejection without a server's wait: RetryAfter is our own
// patience, not the backend's.
func (e *OpenError) Outcome() backstay.Outcome {
	return backstay.Outcome{Class: backstay.Rejected}
}
