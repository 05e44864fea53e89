package policyfile

import (
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/backstay-go/backstay/middleware"
)

// values are a struct of settings with its shape.
type values struct {
	root *shape
	v    reflect.Value
}

func ofTarget(t *middleware.Target) values { return values{root, reflect.ValueOf(t).Elem()} }

func ofServer(s *middleware.Server) values { return values{serverRoot, reflect.ValueOf(s).Elem()} }

func ofFault(f *middleware.Fault) values { return values{faultRoot, reflect.ValueOf(f).Elem()} }

// in returns what x has for s; it is not valid where the section around it is
// switched off.
func (x values) in(s *shape) reflect.Value {
	v, at := x.v, x.root
	if s == x.root {
		return v
	}
	for name := range strings.SplitSeq(s.path, ".") {
		at = at.find(name)
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if !v.IsValid() {
			return v
		}
		v = at.at(v)
	}
	return v
}

// value returns what the number at path is in x, its default included; ok is
// false where the section around it is switched off, or there is none.
func (x values) value(path string) (n float64, ok bool) {
	s := x.root.under(path)
	if s == nil {
		return 0, false
	}
	v := x.in(s)
	if !v.IsValid() || x.switchedOff(s) {
		return 0, false
	}
	if n = s.number(v); n != 0 {
		return n, true
	}
	return x.otherwise(s), true
}

// bound returns the duration at path; ok is false where there is no bound.
func (x values) bound(path string) (d time.Duration, ok bool) {
	n, ok := x.value(path)
	return time.Duration(toInt(n)), ok && n > 0
}

// switchedOff reports whether a section around s is there, but off.
func (x values) switchedOff(s *shape) bool {
	parent, nested := cutLast(s.path)
	if !nested {
		return false
	}
	p := x.root.under(parent)
	v := x.in(p)
	return p.toggle != nil && v.IsValid() && v.FieldByIndex(p.toggle).Bool()
}

// cutLast returns the path of the section around path; nested is false where
// there is none.
func cutLast(path string) (parent string, nested bool) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", false
	}
	return path[:i], true
}

// otherwise returns the default of the number that s describes. Some defaults
// give way to their neighbors.
func (x values) otherwise(s *shape) float64 {
	n, wrong := s.measure(&yaml.Node{Kind: yaml.ScalarNode, Value: s.standard})
	if wrong != nil {
		return 0
	}
	neighbor := func(path string) float64 {
		v, _ := x.value(path)
		return v
	}
	switch s.path {
	case "breaker.window":
		if neighbor("breaker.time_window") != 0 {
			return 0
		}
	case "breaker.buckets":
		if neighbor("breaker.time_window") == 0 {
			return 0
		}
	case "breaker.min_calls":
		if neighbor("breaker.time_window") == 0 {
			n = min(n, neighbor("breaker.window"))
		}
	case "idempotency.grace":
		n = x.grace(n)
	case "breaker.slow_after":
		n = max(n, neighbor("timeout.after")/2)
	case "breaker.probe_lease":
		n = max(n, min(x.longest(), float64(day)))
	case "breaker.max_open_for":
		n = max(n, neighbor("breaker.open_for"))
	case "bulkhead.priorities.sheddable_share":
		n = min(n, neighbor("bulkhead.priorities.default_share"))
	case "bulkhead.limit":
		if _, adaptive := x.value("bulkhead.adaptive.min"); adaptive {
			n = min(max(n, neighbor("bulkhead.adaptive.min")), neighbor("bulkhead.adaptive.max"))
		}
	}
	return n
}

// grace bounds the default by what bounds the handler, as middleware.Server.Grace
// does.
func (x values) grace(n float64) float64 {
	for _, path := range [...]string{"timeout", "deadline.cap"} {
		if most, ok := x.value(path); ok && most > 0 {
			n = min(n, max(most, float64(ms)))
		}
	}
	return n
}

// longest returns how long one attempt may take; 0 where nothing bounds it.
func (x values) longest() float64 {
	d, limited := x.bound("timeout.after")
	if !limited {
		d, _ = x.bound("deadline.total")
	}
	return float64(d)
}
