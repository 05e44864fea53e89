package middleware

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// house is what the pipelines of one registry share, whatever the configuration
// in force; a pipeline that was made by itself has a house of its own.
type house struct {
	name     string
	observer backstay.Observer
	tracer   backstay.Tracer           // nil if the observer is none
	budget   *retry.Budget             // nil: one a pipeline
	derive   func(Target) (any, error) // nil: nothing
	alone    bool                      // it has one pipeline

	plan atomic.Pointer[plan]
	gone atomic.Bool // every pipeline is closed, also those yet to be made

	mu      sync.Mutex           // held while a configuration is put in force
	retired []weak.Pointer[plan] // earlier ones, which calls may still go by
}

// Option gives a pipeline or a registry a collaborator.
type Option func(*house)

// WithObserver tells o of every event; if it is a [backstay.Tracer] too, it is
// asked for the contexts of calls and attempts.
func WithObserver(o backstay.Observer) Option {
	return func(h *house) { h.observer = backstay.Observers(h.observer, o) }
}

// WithRetryBudget makes all pipelines share b, in place of one budget each.
func WithRetryBudget(b *retry.Budget) Option { return func(h *house) { h.budget = b } }

// WithSettings is for protocols, which need more of a Target than its policies:
// of makes of it what they do, and [Registry.Settings] returns that of the
// Target in force. An error of it refuses the Target.
func WithSettings(of func(Target) (any, error)) Option {
	return func(h *house) { h.derive = of }
}

// newHouse returns a house with the first plan, or every fault of t.
func newHouse(t Target, options []Option) (*house, error) {
	h := &house{name: t.Name}
	for _, o := range options {
		o(h)
	}
	h.tracer, _ = h.observer.(backstay.Tracer)
	pl, err := h.newPlan(t, nil)
	if err != nil {
		return nil, err
	}
	h.plan.Store(pl)
	return h, nil
}

// retire keeps an eye on what is not in force any longer: calls that are under
// way, and what they leave behind, hold it; nothing else does.
func retire[T any](retired []weak.Pointer[T], was *T) []weak.Pointer[T] {
	kept := retired[:0]
	for _, p := range append(retired, weak.Make(was)) {
		if p.Value() != nil {
			kept = append(kept, p)
		}
	}
	return kept
}

// close closes every pipeline, and waits for what they own under any
// configuration.
func (h *house) close(ctx context.Context) error {
	h.mu.Lock()
	h.gone.Store(true)
	all := []*plan{h.plan.Load()}
	for _, p := range h.retired {
		if pl := p.Value(); pl != nil {
			all = append(all, pl)
		}
	}
	h.mu.Unlock()
	var faults error
	for _, pl := range all {
		faults = errors.Join(faults, closed(ctx, h.name, pl.prototype.hedge, pl.prototype.timeout))
	}
	return faults
}

// closed closes the policies that need goroutines.
func closed(ctx context.Context, name string, h *hedge.Policy, t *timeout.Policy) error {
	err := errors.Join(h.Close(ctx), t.Close(ctx))
	if err == nil {
		return nil
	}
	return fmt.Errorf("middleware: %s closed while %d copies and %d attempts still run: %w",
		name, h.Late(), t.Late(), context.Cause(ctx))
}
