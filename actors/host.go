package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/retry"
)

// Hosting is a type of actors that a node hosts: give it to [Open].
type Hosting struct {
	name      string
	settings  Settings
	handlers  []handler
	ingests   []ingest
	instance  reflect.Type // of what activate makes; nil: there is none
	activate  func(ctx context.Context, i *invocation) (any, error)
	passivate func(ctx context.Context, instance any) error
}

// Host makes a node host a type whose actors have no instance: all that they
// know is in their values.
func Host[A any](t Type[A], s Settings, handlers ...Handler[A]) Hosting {
	h := Hosting{name: t.name, settings: s}
	for _, one := range handlers {
		h.handlers = append(h.handlers, one.handler)
	}
	return h
}

// HostInstances makes a node host a type whose actors have an instance while
// they are active on it. activate makes it, before the actor's first method on
// this node, and may read the actor's values; an error is the result of the
// call that asked for it. The instance is dropped when the actor was idle for
// Settings.IdleAfter, was deleted or is lost, and after a step that ended in an
// error or failed: what it was told then is not recorded. If *I has a method
// Passivate(context.Context) error, that is called before an idle instance is
// dropped; nothing depends on it.
//
// Handlers made with [HandleOn] get the instance. Queries do not: it belongs to
// the method that is running.
func HostInstances[I, A any](t Type[A], s Settings, activate func(ctx context.Context, self Self[A]) (*I, error), handlers ...Handler[A]) Hosting {
	h := Host(t, s, handlers...)
	h.instance = reflect.TypeFor[*I]()
	if activate == nil {
		return h
	}
	h.activate = func(ctx context.Context, i *invocation) (any, error) { return activate(ctx, Self[A]{i}) }
	h.passivate = func(ctx context.Context, instance any) error {
		if p, ok := instance.(interface{ Passivate(context.Context) error }); ok {
			return p.Passivate(ctx)
		}
		return nil
	}
	return h
}

// The defaults of [Settings].
const (
	DefaultMaxAttempts = 5
	DefaultStepTimeout = 30 * time.Second
	DefaultBusyTimeout = 30 * time.Second
	DefaultIdleAfter   = 10 * time.Minute
	DefaultMailbox     = 10_000
)

// Settings are those of a type of actors. The zero value is the default.
type Settings struct {
	// Retry says how often a failed attempt is repeated, and how long it waits:
	// MaxAttempts (0 means [DefaultMaxAttempts]), Base, Cap and Multiplier. What
	// else it has is about calls, and must not be set. Attempts that end with
	// their process count, too.
	Retry retry.Config `json:"retry,omitzero" yaml:"retry,omitempty"`
	// StepTimeout bounds the context of a method that has no deadline, or
	// begins after it: a retry, a link of a chain. An error after that is a failed
	// attempt; see [Retry]. 0 means [DefaultStepTimeout].
	StepTimeout time.Duration `json:"step_timeout,omitempty" yaml:"step_timeout,omitempty"`
	// BusyTimeout is how long a call may wait behind one and the same other
	// request of its actor, before its caller gets [ErrDeadlock]. Tells wait on.
	// 0 means [DefaultBusyTimeout].
	BusyTimeout time.Duration `json:"busy_timeout,omitempty" yaml:"busy_timeout,omitempty"`
	// IdleAfter is how long an instance is kept without a request. 0 means
	// [DefaultIdleAfter].
	IdleAfter time.Duration `json:"idle_after,omitempty" yaml:"idle_after,omitempty"`
	// Mailbox is how many requests may wait for one actor; further ones end with
	// [ErrMailboxFull]. 0 means [DefaultMailbox].
	Mailbox int `json:"mailbox,omitempty" yaml:"mailbox,omitempty"`
	// CancelOrphans keeps nested calls that have not begun from running when
	// their caller's attempt is gone, so that its retry need not wait for them.
	CancelOrphans bool `json:"cancel_orphans,omitempty" yaml:"cancel_orphans,omitempty"`
	// StrictBegin records the begin of every request that has a deadline before
	// its method runs, which costs a record: then [ErrExpired] means that the
	// method has not run at all, also where processes fail.
	StrictBegin bool `json:"strict_begin,omitempty" yaml:"strict_begin,omitempty"`
}

// Validate returns every fault at once, each a [backstay.FieldError].
func (s Settings) Validate() error {
	attempts := s.Retry.MaxAttempts
	s.Retry.MaxAttempts = 0 // whose default is another one there
	positive := func(path string, d time.Duration) backstay.Setting {
		return backstay.Setting{Path: path, Value: d, Valid: d >= 0, Allowed: "must be positive, or 0 for the default"}
	}
	return errors.Join(
		backstay.Check(backstay.Setting{
			Path: "retry.max_attempts", Value: attempts, Valid: attempts >= 0,
			Allowed: "must be at least 1, or 0 for the default of 5",
		}),
		backstay.Under("retry", s.Retry.Validate()),
		backstay.Check(
			foreign("retry.max_server_wait", s.Retry.MaxServerWait),
			foreign("retry.min_attempt_time", s.Retry.MinAttemptTime),
			foreign("retry.retry_nested", s.Retry.RetryNested),
			foreign("retry.budget", s.Retry.Budget),
			positive("step_timeout", s.StepTimeout),
			positive("busy_timeout", s.BusyTimeout),
			positive("idle_after", s.IdleAfter),
			backstay.Setting{Path: "mailbox", Value: s.Mailbox, Valid: s.Mailbox >= 0, Allowed: "must be positive, or 0 for the default of 10000"},
		),
	)
}

// foreign is a setting of calls that means nothing to actors.
func foreign[T comparable](path string, v T) backstay.Setting {
	var unset T
	return backstay.Setting{Path: path, Value: v, Valid: v == unset, Allowed: "has no effect on actors: leave it out"}
}

// runtime turns it into what the runtime takes.
func (s Settings) runtime() (runtime.Settings, error) {
	if err := s.Validate(); err != nil {
		return runtime.Settings{}, err
	}
	s.Retry.MaxAttempts = cmp.Or(s.Retry.MaxAttempts, DefaultMaxAttempts)
	policy, err := retry.New(s.Retry)
	if err != nil {
		return runtime.Settings{}, err
	}
	return runtime.Settings{
		MaxAttempts:   uint64(s.Retry.MaxAttempts), //nolint:gosec // checked to be positive
		Backoff:       func(attempt uint64) time.Duration { return policy.Backoff(int(min(attempt, 1<<20)), rand.Uint64()) },
		StepTimeout:   cmp.Or(s.StepTimeout, DefaultStepTimeout),
		BusyAfter:     cmp.Or(s.BusyTimeout, DefaultBusyTimeout),
		IdleAfter:     cmp.Or(s.IdleAfter, DefaultIdleAfter),
		Mailbox:       cmp.Or(s.Mailbox, DefaultMailbox),
		CancelOrphans: s.CancelOrphans,
		StrictBegin:   s.StrictBegin,
	}, nil
}

// build checks a hosting and turns it into what the runtime takes.
func (h *Hosting) build(n *Node) (runtime.Type, error) {
	t := runtime.Type{Name: h.name, Methods: deferring()}
	var faults []error
	switch {
	case h.name == "":
		faults = append(faults, errors.New("actors: a Hosting is made with Host or HostInstances"))
	case len(h.handlers) == 0:
		faults = append(faults, fmt.Errorf("actors: type %q is hosted without a method", h.name))
	case h.instance != nil && h.activate == nil:
		faults = append(faults, fmt.Errorf("actors: type %q is hosted with instances, and without a function that makes them", h.name))
	}
	for _, one := range h.handlers {
		if _, twice := t.Methods[one.name]; twice {
			faults = append(faults, fmt.Errorf("actors: %s.%s has two handlers", h.name, one.name))
		}
		faults = append(faults, one.fault(h.name, h.instance))
		t.Methods[one.name] = n.method(one)
	}
	for _, g := range h.ingests {
		faults = append(faults, g.fault(h.name))
		t.Ingests = append(t.Ingests, n.ingest(g))
	}
	var err error
	if t.Settings, err = h.settings.runtime(); err != nil {
		faults = append(faults, backstay.Under(h.name, err))
	}
	if h.activate != nil {
		t.Activate, t.Passivate = h.activator(n), h.passivator(n)
	}
	return t, errors.Join(faults...)
}

// activator makes instances.
func (h *Hosting) activator(n *Node) func(context.Context, *runtime.Attempt) (any, *runtime.End) {
	return func(ctx context.Context, a *runtime.Attempt) (any, *runtime.End) {
		m := n.begin(ctx, a)
		instance, err := h.activate(m, &m.invocation)
		if err == nil {
			err = m.fault()
		}
		if err != nil {
			end := m.ended(m, err)
			return nil, &end
		}
		return instance, nil
	}
}

// passivator tells instances that they are dropped.
func (h *Hosting) passivator(n *Node) func(context.Context, string, any) {
	return func(ctx context.Context, _ string, instance any) {
		if err := h.passivate(ctx, instance); err != nil {
			n.notePassivation(ctx, h.name, err)
		}
	}
}

// method is a handler as the runtime calls it.
func (n *Node) method(h handler) runtime.Method {
	if h.read != nil {
		return runtime.Method{Read: func(ctx context.Context, at *runtime.Reading) record.Result {
			return reading{node: n, at: at}.read(n.incoming(ctx, at.Request().Baggage), h.read)
		}}
	}
	return runtime.Method{Run: func(ctx context.Context, a *runtime.Attempt) runtime.End {
		return n.begin(ctx, a).ran(h.run)
	}}
}
