package policyfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/backstay-go/backstay"
)

// checker looks for what only shows once a target is resolved.
type checker struct {
	*reader
	*resolved
	of *definition
}

// check reports what is wrong with t, which is what d comes to.
func (r *reader) check(t *resolved, d *definition) {
	c := checker{r, t, d}
	c.validate()
	if t.Target == nil {
		return
	}
	c.fits()
	c.window()
	c.repeatable()
	c.ends()
}

// partners are values that are judged together: where one of them is a default,
// the other one is to blame.
var partners = map[string]string{
	"timeout.after":                       "deadline.total",
	"deadline.need":                       "deadline.total",
	"retry.cap":                           "retry.base",
	"retry.base":                          "retry.cap",
	"breaker.min_calls":                   "breaker.window",
	"breaker.buckets":                     "breaker.time_window",
	"breaker.max_open_for":                "breaker.open_for",
	"breaker.window":                      "breaker.time_window",
	"breaker.time_window":                 "timeout.after",
	"breaker.slow_ratio":                  "breaker.slow_after",
	"hedge.ceiling":                       "hedge.floor",
	"retry.max_attempts":                  "deadline.total",
	"bulkhead.priorities.sheddable_share": "bulkhead.priorities.default_share",
	"bulkhead.max_wait":                   "bulkhead.max_queue",
	"bulkhead.adaptive.max":               "bulkhead.adaptive.min",
	"bulkhead.limit":                      "bulkhead.adaptive.max",
}

// fault reports a fault of the value at path, unless one of the values that
// are judged was faulty itself, or may be another one.
func (c checker) fault(path string, judged []string, suggestion, format string, args ...any) {
	judged = append(judged, path, partners[path])
	_, _, listed := c.item(path) // then all of it is in the file
	if slices.ContainsFunc(judged, c.isBroken) || c.baseless && !listed && slices.ContainsFunc(judged, c.unsaid) {
		return
	}
	at, profile := c.blame(path)
	reason := fmt.Sprintf(format, args...)
	if profile != "" {
		reason += " [in target " + c.of.name + "]"
	}
	c.add(at, suggestion, "%s", reason)
}

// isBroken reports whether the value at path, or its section, had a fault.
func (c checker) isBroken(path string) bool {
	for path != "" {
		if c.broken[path] {
			return true
		}
		path, _ = cutLast(path)
	}
	return false
}

// unsaid reports whether the file does not say the value at path itself. What a
// value without partners contradicts is not known.
func (c checker) unsaid(path string) bool { return c.origins[path].line == 0 }

// blame returns where in the file the value at path was decided.
func (c checker) blame(path string) (at spot, profile string) {
	candidates := []string{path, partners[path]}
	for i := strings.LastIndexAny(path, ".["); i > 0; i = strings.LastIndexAny(path[:i], ".[") {
		candidates = append(candidates, path[:i])
	}
	for _, p := range candidates {
		if o, ok := c.origins[p]; ok && o.line > 0 {
			return o.spot, o.profile
		}
	}
	return c.of.at, ""
}

// validate asks the policies themselves, who know what only shows between
// values: the bounds of each are those of its rule.
func (c checker) validate() {
	for _, err := range flatten(c.ask()) {
		f, ok := errors.AsType[*backstay.FieldError](err)
		if !ok {
			c.add(c.of.at, "", "%v", err)
			continue
		}
		x, s := c.shape(f.Path)
		_, said := c.origins[f.Path]
		switch {
		case s != nil && s.standard == required && x.in(s).IsZero():
			c.fault(f.Path, nil, "write "+s.allowed(), "%s is missing", s.name)
		case s != nil && x.root == faultRoot && !said: // its kind needs it
			c.fault(f.Path, nil, f.Allowed, "%s is missing", s.name)
		case !c.follows(f):
			c.fault(f.Path, nil, c.instead(f), "%v contradicts other values", c.written(f))
		}
	}
}

// ask returns what the policies say, with paths that begin with the section.
func (c checker) ask() error {
	if c.Target == nil {
		s := *c.Server
		s.Name = ""
		return s.Validate()
	}
	t := *c.Target
	t.Name = ""
	return t.Validate()
}

// advice says what to write instead, where what a policy says is for code.
var advice = map[string]string{
	"breaker.window":        "switch one of window and time_window off",
	"breaker.buckets":       "set time_window, or switch buckets off",
	"breaker.slow_ratio":    "set slow_after, or switch slow_ratio off",
	"breaker.failure_ratio": "set consecutive or slow_ratio: else nothing could open the breaker",
	"bulkhead.max_wait":     "set max_queue, or switch max_wait off: else nobody waits",
}

// instead says what to write in place of what is wrong with f.
func (c checker) instead(f *backstay.FieldError) string {
	if f.Path == "bulkhead.limit" && strings.Contains(f.Allowed, "adaptive.") {
		return c.aroundAdaptive()
	}
	said, known := advice[f.Path]
	if known && (strings.Contains(f.Allowed, " 0 ") || strings.Contains(f.Allowed, "-1")) {
		return said
	}
	return f.Allowed
}

// aroundAdaptive says between what the limit must be where the bulkhead adapts
// it, and that it need not.
func (c checker) aroundAdaptive() string {
	said := func(name string) string {
		path := "bulkhead.adaptive." + name
		s := "adaptive." + name + " is " + c.shown(c.root.under(path))
		if o, ok := c.origins[path]; ok && o.line > 0 {
			return s
		}
		if o := c.origins["bulkhead.adaptive"]; o.profile != "" {
			return s + ", from " + o.profile
		}
		return s
	}
	least, _ := c.value("bulkhead.adaptive.min")
	if limit, _ := c.value("bulkhead.limit"); limit < least {
		return said("min") + "; or write adaptive: off"
	}
	return said("max") + "; or write adaptive: off"
}

// follows reports whether f is judged by a value that was faulty itself.
func (c checker) follows(f *backstay.FieldError) bool {
	for path := range c.broken {
		if strings.Contains(f.Allowed, path) {
			return true
		}
	}
	return false
}

// written returns the value of a fault as a file would say it.
func (c checker) written(f *backstay.FieldError) any {
	if x, s := c.shape(f.Path); s != nil && s.kind != faultList {
		return x.shown(s)
	}
	return f.Value
}

// shape returns the shape of the value at path, nil if there is none, and what
// it is a value of.
func (c checker) shape(path string) (values, *shape) {
	x := c.values
	if item, rest, ok := c.item(path); ok {
		x, path = item, rest
	}
	at := x.root.under(path)
	if at == nil || at.kind == section || !x.in(at).IsValid() {
		return x, nil
	}
	return x, at
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error }) //nolint:errorlint // only what errors.Join made itself
	switch {
	case err == nil:
		return nil
	case !ok:
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, flatten(e)...)
	}
	return all
}

// fits refuses attempts that the total has no room for, even where each of them
// fails at once: the waits between them, half of their bounds on average, are
// too long.
func (c checker) fits() {
	total, bounded := c.bound("deadline.total")
	if !bounded || c.Target.Retry == nil {
		return
	}
	attempts, _ := c.value("retry.max_attempts")
	least, _ := c.bound("retry.min_attempt_time")
	fit := 1
	for n, spent := 1, time.Duration(0); n < int(attempts); n++ {
		if spent = add(spent, wait(c.values, n)/2); spent > total-least {
			break
		}
		fit++
	}
	if fit < int(attempts) {
		c.fault("retry.max_attempts", []string{"retry.base", "retry.cap", "retry.multiplier", "retry.min_attempt_time"},
			fmt.Sprintf("allow %d attempts, or a longer total, or shorter waits", fit),
			"%.0f attempts do not fit into the total of %s: the waits between them alone take longer", attempts, writeDuration(total))
	}
}

// window refuses a breaker that forgets an attempt's failure before the next
// one can have failed.
func (c checker) window() {
	window, timed := c.bound("breaker.time_window")
	attempt, limited := c.bound("timeout.after")
	if timed && limited && window/2 < attempt {
		c.fault("breaker.time_window", nil, "write at least "+writeDuration(2*attempt),
			"%s is shorter than two attempts of up to %s: failures by timeout would be forgotten", writeDuration(window), writeDuration(attempt))
	}
}

// repeatable refuses hedging of what must not be sent twice.
func (c checker) repeatable() {
	if c.Target.Hedge == nil || c.Target.Idempotent {
		return
	}
	for _, p := range c.of.patterns {
		if unsafe := p.unsafe(); unsafe != "" {
			c.add(p.at, "set hedge: off, or state idempotent: true",
				"hedging would send %s twice, and the target does not state that it is idempotent", unsafe)
		}
	}
}
