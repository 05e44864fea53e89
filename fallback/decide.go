package fallback

import "github.com/backstay-go/backstay"

// Failed is what a ladder answers for by default: a failure of the backend
// (transient, overload, fault) and a refusal of our own (rejected). A
// permanent end is the caller's own mistake, and no fallback mends it.
func Failed(o backstay.Outcome, _ error) bool {
	return o.Class.Failure() || o.Class == backstay.Rejected
}

// Applies decides whether the ladder answers for a call that ended in o with
// err; gone says that the caller's context is done. A caller who has given up
// gets its own error, and a success stays one, whatever [When] says. Applies
// has no effects but those of When.
func (l *Ladder[Q, R]) Applies(o backstay.Outcome, err error, gone bool) bool {
	if gone || o.Class == backstay.Success || o.Class == backstay.Canceled {
		return false
	}
	return l.when(o, err)
}

// Drills decides whether a call is a drill, for a random number u in [0, 1).
func (c Config) Drills(u float64) bool { return u < c.DrillShare }
