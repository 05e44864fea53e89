package machine

import "github.com/backstay-go/backstay/actors/internal/record"

// begun counts an attempt before it runs (H24). Whatever the attempt does
// outside, the link can no longer pass for one that never ran.
func begun(e *Entry, r *record.Begun) Void {
	if e.Tries+1 != r.Attempt {
		return VoidAttempt
	}
	e.Tries, e.Begun = r.Attempt, true
	return Effective
}

// failed counts an attempt that failed; its Begun may have counted it already.
// The link keeps its place, its writes and its claim on the actor. A copy that
// comes after the next attempt is void (R34).
func failed(e *Entry, r *record.Failed) Void {
	if e.Tries+1 != r.Attempt && e.Tries != r.Attempt {
		return VoidAttempt
	}
	e.Tries, e.Begun, e.RetryAt = r.Attempt, true, r.NotBefore
	return Effective
}
