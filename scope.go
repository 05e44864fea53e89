package backstay

import (
	"context"
	"fmt"
)

// Scope says on whose behalf a policy acts, and who is told. The policies of
// one pipeline share one Scope. A nil *Scope is valid: nameless and silent.
type Scope struct {
	// Policy names the pipeline or policy, Key its instance; both appear in
	// events and errors.
	Policy, Key string
	// Observer is told of every event; nil tells nobody.
	Observer Observer
}

// Silent reports whether events go nowhere, so that making them can be skipped.
func (s *Scope) Silent() bool { return s == nil || s.Observer == nil }

// Name returns what errors call the policy: its policy name, with the key
// where there is one.
func (s *Scope) Name() string {
	switch {
	case s == nil:
		return ""
	case s.Key == "":
		return s.Policy
	case s.Policy == "":
		return s.Key
	default:
		return s.Policy + "[" + s.Key + "]"
	}
}

// Emit hands e to the observer, stamped with the scope's names. A panic of the
// observer is recovered and told to it as an event of kind [CallbackPanicked],
// once. Emit must be called outside every lock.
func (s *Scope) Emit(ctx context.Context, e Event) {
	if s.Silent() {
		return
	}
	e.Policy, e.Key = s.Policy, s.Key
	defer func() {
		if v := recover(); v != nil {
			defer func() { _ = recover() }() // it has had its chance
			s.Observer.Observe(ctx, Event{
				Kind: CallbackPanicked, Policy: s.Policy, Key: s.Key,
				Err: fmt.Errorf("backstay: observer panicked on %q: %v", e.Kind, v),
			})
		}
	}()
	s.Observer.Observe(ctx, e)
}
