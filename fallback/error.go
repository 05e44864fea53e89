package fallback

import (
	"errors"
	"fmt"
	"strings"

	"github.com/backstay-go/backstay"
)

// ErrNoAnswer is matched, through errors.Is, by every [*Error]: the call
// failed, and no rung answered in its place.
var ErrNoAnswer = errors.New("fallback: no rung answered")

// ErrDrill is the cause that rungs are given in a drill: nothing has failed,
// the path is taken on purpose.
var ErrDrill = errors.New("fallback: drill")

// Error says that a call failed and that no rung answered in its place. It
// unwraps to Clear and to Cause, so that errors.Is, errors.As and
// [backstay.Classify] see the original failure; the errors of the rungs are
// told but not unwrapped to, since they are not what went wrong.
type Error struct {
	// Name is the ladder's, from its scope; may be empty.
	Name string
	// Clear is what a [Fail] rung puts in front of the cause; nil without one.
	Clear error
	// Cause is what the call itself failed with.
	Cause error
	// Rungs tells how the rungs failed that were asked, in their order.
	Rungs []RungError
}

// RungError is how one rung failed.
type RungError struct {
	Rung string
	Err  error
}

// Error reads, for example,
// "fallback prices: connection refused (no rung answered: cached: nothing is cached)".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(title(e.Name))
	if e.Clear != nil {
		fmt.Fprintf(&b, ": %v", e.Clear)
	}
	fmt.Fprintf(&b, ": %v", e.Cause)
	for i, r := range e.Rungs {
		if i == 0 {
			b.WriteString(" (no rung answered: ")
		} else {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s: %v", r.Rung, r.Err)
	}
	if len(e.Rungs) > 0 {
		b.WriteByte(')')
	}
	return b.String()
}

// Unwrap returns Clear, where there is one, and Cause.
func (e *Error) Unwrap() []error {
	if e.Clear == nil {
		return []error{e.Cause}
	}
	return []error{e.Clear, e.Cause}
}

// Is matches [ErrNoAnswer].
func (e *Error) Is(target error) bool { return target == ErrNoAnswer }

// CauseError stands in as the cause where a call failed by its answer and not
// by an error, as an HTTP 503 does: a rung always gets a cause.
type CauseError struct {
	outcome backstay.Outcome
}

// Error reads, for example, "the answer was judged overload (retry after 5s)".
func (e *CauseError) Error() string {
	s := "the answer was judged " + e.outcome.Class.String()
	if e.outcome.RetryAfter > 0 {
		s += fmt.Sprintf(" (retry after %v)", e.outcome.RetryAfter)
	}
	return s
}

// Outcome is how the answer was judged.
func (e *CauseError) Outcome() backstay.Outcome { return e.outcome }

// title is how errors begin.
func title(name string) string {
	if name == "" {
		return "fallback"
	}
	return "fallback " + name
}

// panicError tells what panicked, and how. A value that is an error stays
// reachable.
func panicError(what string, v any) error {
	if err, ok := v.(error); ok {
		return fmt.Errorf("fallback: %s panicked: %w", what, err)
	}
	return fmt.Errorf("fallback: %s panicked: %v", what, v)
}
