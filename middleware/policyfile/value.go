package policyfile

import (
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/backstay-go/backstay/middleware"
)

// value returns what the number at path is in t, its default included; ok is
// false where the section around it is switched off.
func value(t *middleware.Target, path string) (n float64, ok bool) {
	s := lookup(path)
	v := s.in(t)
	if !v.IsValid() || switchedOff(t, s) {
		return 0, false
	}
	if n = s.number(v); n != 0 {
		return n, true
	}
	return s.fallback(t), true
}

// bound returns the duration at path; ok is false where there is no bound.
func bound(t *middleware.Target, path string) (d time.Duration, ok bool) {
	n, ok := value(t, path)
	return time.Duration(toInt(n)), ok && n > 0
}

// switchedOff reports whether a section around s is there, but off.
func switchedOff(t *middleware.Target, s *shape) bool {
	parent, nested := cutLast(s.path)
	if !nested {
		return false
	}
	p := lookup(parent)
	v := p.in(t)
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

// fallback returns the default of the number that s describes. Some defaults
// give way to their neighbors.
func (s *shape) fallback(t *middleware.Target) float64 {
	n, wrong := s.measure(&yaml.Node{Kind: yaml.ScalarNode, Value: s.standard})
	if wrong != nil {
		return 0
	}
	neighbor := func(path string) float64 {
		v, _ := value(t, path)
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
	case "breaker.slow_after":
		n = max(n, neighbor("timeout.after")/2)
	case "breaker.probe_lease":
		n = max(n, min(longest(t), float64(day)))
	case "breaker.max_open_for":
		n = max(n, neighbor("breaker.open_for"))
	case "bulkhead.priorities.sheddable_share":
		n = min(n, neighbor("bulkhead.priorities.default_share"))
	case "bulkhead.limit":
		if t.Bulkhead.Adaptive != nil {
			n = min(max(n, neighbor("bulkhead.adaptive.min")), neighbor("bulkhead.adaptive.max"))
		}
	}
	return n
}

// shown returns what a value of t is, as a file would say it.
func (s *shape) shown(t *middleware.Target) string {
	v := s.in(t)
	switch s.kind {
	case flag:
		if v.Bool() {
			return "true"
		}
		return "false"
	case text, texts:
		return s.shownText(v)
	default:
	}
	n := s.number(v)
	if n == 0 {
		n = s.fallback(t)
	}
	if n == 0 && s.names[s.standard] != 0 || n == 0 && !s.measurable() {
		return s.standard
	}
	return s.write(n)
}

// longest returns how long one attempt may take; 0 where nothing bounds it.
func longest(t *middleware.Target) float64 {
	d, limited := bound(t, "timeout.after")
	if !limited {
		d, _ = bound(t, "deadline.total")
	}
	return float64(d)
}

// measurable reports whether the default is a number, or the name of one.
func (s *shape) measurable() bool {
	_, wrong := s.measure(&yaml.Node{Kind: yaml.ScalarNode, Value: s.standard})
	return wrong == nil
}

func (s *shape) shownText(v reflect.Value) string {
	if v.Len() == 0 {
		return s.standard
	}
	if v.Kind() == reflect.String {
		return v.String()
	}
	var all []string
	for i := range v.Len() {
		all = append(all, v.Index(i).String())
	}
	return strings.Join(all, ", ")
}
