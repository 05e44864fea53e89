package policyfile

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

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
	return x.fallback(s), true
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

// fallback returns the default of the number that s describes. Some defaults
// give way to their neighbors.
func (x values) fallback(s *shape) float64 {
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

// shown returns what the value of s is, as a file would say it.
func (x values) shown(s *shape) string {
	v := x.in(s)
	switch s.kind {
	case flag:
		if v.Bool() {
			return "true"
		}
		return "false"
	case text, texts:
		return s.shownText(v)
	case moment:
		return s.shownTime(v)
	case pairs:
		return s.shownPairs(v)
	default:
	}
	n := s.number(v)
	if n == 0 {
		n = x.fallback(s)
	}
	if n == 0 && s.names[s.standard] != 0 || n == 0 && !s.measurable() {
		return s.standard
	}
	return s.write(n)
}

// longest returns how long one attempt may take; 0 where nothing bounds it.
func (x values) longest() float64 {
	d, limited := x.bound("timeout.after")
	if !limited {
		d, _ = x.bound("deadline.total")
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

func (s *shape) shownTime(v reflect.Value) string {
	at, _ := reflect.TypeAssert[time.Time](v)
	if at.IsZero() {
		return s.standard
	}
	return at.Format(time.RFC3339)
}

func (s *shape) shownPairs(v reflect.Value) string {
	if v.Len() == 0 {
		return s.standard
	}
	var all []string
	for _, name := range slices.SortedFunc(v.Seq(), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
		all = append(all, name.String()+": "+v.MapIndex(name).String())
	}
	return strings.Join(all, ", ")
}
