package chaos

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
)

// Injector decides which calls have which faults, and injects them. It is safe
// for concurrent use. A nil *Injector injects nothing.
type Injector struct {
	scope   *backstay.Scope
	random  func() float64
	convert func(*InjectedError) error // nil: errors stay as they are

	plan atomic.Pointer[plan] // nil: nothing can be injected

	mu    sync.Mutex // one change at a time
	rules []rule
	off   bool
}

// Option gives an [Injector] a collaborator.
type Option func(*Injector)

// WithScope names the injector in events, and says who is told of them. The
// policy is that of the target whose faults these are; where the scope has no
// key, events carry the host of the call.
func WithScope(s *backstay.Scope) Option { return func(i *Injector) { i.scope = s } }

// WithRandom draws from f, which returns numbers from 0 up to but not including
// 1, and may be called from several goroutines at once. The default is
// rand.Float64.
func WithRandom(f func() float64) Option { return func(i *Injector) { i.random = f } }

// WithError lets f make a protocol's own error of an injected one. Callers get
// it with the mark added: errors.As still finds the [*InjectedError]. Where f
// returns nil, the error stays as it is.
func WithError(f func(*InjectedError) error) Option { return func(i *Injector) { i.convert = f } }

// New returns an Injector that is switched on, or everything that is wrong with
// the faults.
func New(faults []middleware.Fault, options ...Option) (*Injector, error) {
	i := &Injector{random: rand.Float64}
	for _, o := range options {
		o(i)
	}
	if err := i.Set(faults); err != nil {
		return nil, err
	}
	return i, nil
}

// errNil is what a nil Injector says to faults: it injects nothing.
var errNil = errors.New("chaos: a nil Injector takes no faults: make one with New")

// Set replaces all faults at once, as a policy file that was loaded again does.
// A call is decided by the old ones or by the new ones; what the old ones hold
// up goes on. Where a fault is not valid, Set changes nothing and returns
// everything that is wrong.
func (i *Injector) Set(faults []middleware.Fault) error {
	if err := middleware.ValidateFaults(faults); err != nil {
		return backstay.Under("chaos", err)
	}
	if i == nil {
		return errNil
	}
	rules := compile(faults)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.rules = rules
	i.renew()
	return nil
}

// Apply is [Injector.Set] with the faults of a target, so that an injector can
// be bound to a policy file together with the transport above it:
//
//	live.Bind("payments", transport.Pipelines(), injector)
func (i *Injector) Apply(t middleware.Target) error { return i.Set(t.Faults) }

// Disable switches the injector off at once: no further call has a fault, and
// calls that are held up go on.
func (i *Injector) Disable() { i.turn(true) }

// Enable switches the injector on again.
func (i *Injector) Enable() { i.turn(false) }

func (i *Injector) turn(off bool) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.off != off {
		i.off = off
		i.renew()
	}
}

// renew puts a new plan in place of the one in force, and lets go what that
// one holds up.
func (i *Injector) renew() {
	var next *plan
	if !i.off && len(i.rules) > 0 {
		next = &plan{rules: i.rules, over: make(chan struct{})}
	}
	if last := i.plan.Swap(next); last != nil {
		close(last.over)
	}
}

// Enabled reports whether the injector is switched on.
func (i *Injector) Enabled() bool {
	if i == nil {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return !i.off
}

// Faults returns a copy of the faults, whether or not they are on.
func (i *Injector) Faults() []middleware.Fault {
	if i == nil {
		return nil
	}
	i.mu.Lock()
	rules := i.rules
	i.mu.Unlock()
	all := make([]middleware.Fault, len(rules))
	for n := range rules {
		all[n] = clone(rules[n].fault)
	}
	return all
}

// Decide returns what happens to a call at now, where draw yields random
// numbers from 0 up to but not including 1: one for each fault that is active
// and matches, and one more for a latency. Beside the faults that are set it
// depends on nothing else. [Do] and [Transport] decide and act; Decide is for
// those who act themselves, and for simulations.
func (i *Injector) Decide(now time.Time, r Request, draw func() float64) Decision {
	if i == nil {
		return Decision{}
	}
	return i.plan.Load().decide(now, r, draw)
}
