package policyfile

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

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
		n = x.otherwise(s)
	}
	if n == 0 && s.names[s.standard] != 0 || n == 0 && !s.measurable() {
		return s.standard
	}
	return s.write(n)
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
