package middleware

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
)

// ErrPartly is matched, through errors.Is, by a [*PartlyError].
var ErrPartly = errors.New("middleware: some settings count only for what is built anew")

// PartlyError is the error of an Apply that has put a Target in force but for
// some settings that are fixed when something is built.
type PartlyError struct {
	// Name is the target's.
	Name string
	// Settings are the paths of those that differ and are as they were.
	Settings []string
}

// Error names the settings.
func (e *PartlyError) Error() string {
	return "middleware: " + e.Name + ": " + strings.Join(e.Settings, ", ") +
		" count only for what is built anew; all else is in force"
}

// Is matches [ErrPartly].
func (e *PartlyError) Is(target error) bool { return target == ErrPartly }

// Apply puts t in force for the calls that begin from now on, of every key at
// once; those under way go by what they began with, to their end. Policies
// whose sections are equal keep their state: the breaker its openings and its
// window, the budget its tokens, the bulkhead its limit and what is in flight,
// hedging its latencies. So does a breaker whose section, or whose attempt
// timeout, differs, if the window is the same. Policies whose sections differ
// begin afresh: a new bulkhead does not count what the old one has in flight.
//
// The error has every fault of t, and nothing has changed; or it is a
// [*PartlyError], and t is in force but for the settings that it names.
func (r *Registry) Apply(t Target) error {
	return r.house.apply(t, func(renew func(*Pipeline)) {
		for _, p := range r.All {
			renew(p)
		}
	})
}

// Apply puts t in force for the pipeline; see [Registry.Apply]. The pipelines
// of a Registry are all of one Target, and refuse.
func (p *Pipeline) Apply(t Target) error {
	if p == nil {
		return errors.New("middleware: there is no pipeline to apply a target to")
	}
	h := p.now().house
	if !h.alone {
		return fmt.Errorf("middleware: pipeline %s is of a registry: apply the target to that", p.scope.Name())
	}
	return h.apply(t, func(renew func(*Pipeline)) { renew(p) })
}

// apply makes a plan of t and puts it in force for all pipelines.
func (h *house) apply(t Target, all func(renew func(*Pipeline))) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.plan.Load()
	if reflect.DeepEqual(t, was.target) {
		return nil
	}
	if err := h.refuse(t); err != nil {
		return err
	}
	next, err := h.newPlan(t, was)
	if err != nil {
		return err
	}
	h.plan.Store(next)
	all((*Pipeline).renew)
	h.retired = retire(h.retired, was)
	return partly(was.target, t)
}

// refuse returns why t cannot be put in force, valid as it may be.
func (h *house) refuse(t Target) error {
	if h.gone.Load() {
		return &ClosedError{Name: h.name}
	}
	if t.unbuildable == nil { // else there is worse to tell
		return sameName(t.Name, h.name)
	}
	return nil
}

// sameName refuses another name than the one that something was built with.
func sameName(name, built string) error {
	return backstay.Under("middleware", backstay.Check(backstay.Setting{
		Path: "name", Value: strconv.Quote(name), Valid: name == built,
		Allowed: "must stay " + strconv.Quote(built) + ", which events and metrics know",
	}))
}

// renew gives the pipeline a version of the plan in force, if it has none yet.
// The caller holds the house's lock.
func (p *Pipeline) renew() {
	was := p.now()
	pl := was.house.plan.Load()
	if was.number == pl.number {
		return
	}
	if was.shut {
		pl = pl.closed()
	}
	v := new(version)
	v.furnish(p, pl, was)
	p.current.Store(v)
}

// ladderOf returns what ladders were built from.
func ladderOf(t Target) (c fallback.Config) {
	if t.Fallback != nil {
		c = *t.Fallback
	}
	c.FailClosed = false // which every call asks for anew
	return c
}

// partly names what is different in t and yet stays as it was.
func partly(was, t Target) error {
	var left []string
	if was.Keys.Max != t.Keys.Max {
		left = append(left, "keys.max")
	}
	if was.Keys.IdleAfter != t.Keys.IdleAfter {
		left = append(left, "keys.idle_after")
	}
	if ladderOf(was) != ladderOf(t) {
		left = append(left, "fallback")
	}
	if left == nil {
		return nil
	}
	return &PartlyError{Name: t.Name, Settings: left}
}
