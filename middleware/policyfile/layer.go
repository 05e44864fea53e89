package policyfile

import (
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/backstay-go/backstay/middleware"
)

// origin is where a value comes from: a spot in the file, or, where its line is
// 0, a built-in profile.
type origin struct {
	spot
	profile string // "" where the target itself says it
}

// resolved is a target, or the server, as its layers make it, the outermost
// profile first.
type resolved struct {
	values
	Target  *middleware.Target // nil for the server
	Server  *middleware.Server // nil for a target
	origins map[string]origin  // by path from the root on
	broken  map[string]bool    // paths whose values had faults
	extends []string           // the profiles, outermost first
	// baseless: it extends what is not known, so nothing can be said of values
	// that the file does not say.
	baseless bool
}

func resolvedTarget(t *middleware.Target, extends ...string) *resolved {
	return &resolved{values: ofTarget(t), Target: t, origins: map[string]origin{}, broken: map[string]bool{}, extends: extends}
}

func resolvedServer(s *middleware.Server, extends ...string) *resolved {
	return &resolved{values: ofServer(s), Server: s, origins: map[string]origin{}, broken: map[string]bool{}, extends: extends}
}

// over puts what entries say over t. The profile is the one they are of, if
// any.
func (r *reader) over(t *resolved, entries []entry, profile string) {
	l := layer{reader: r, to: t, profile: profile}
	l.fields(t.root, t.v, entries)
}

// layer puts one mapping of values over a target, or the server.
type layer struct {
	*reader
	to      *resolved
	profile string
	item    string // the path of the list's item that the values are of, with a dot; "" outside of lists
}

// fields puts entries into v, the struct that s describes.
func (l *layer) fields(s *shape, v reflect.Value, entries []entry) {
	for _, e := range entries {
		f := s.find(e.name)
		if f == nil {
			l.add(e.key, suggest(e.name, s.children()), "unknown key")
			continue
		}
		l.field(f, f.at(v), e)
	}
}

func (l *layer) field(s *shape, v reflect.Value, e entry) {
	if s.kind == section {
		l.section(s, v, e)
		return
	}
	if wrong := l.set(s, v, e); wrong != nil {
		l.add(e.spot(), wrong.suggestion, "%s", wrong.reason)
		l.to.broken[l.item+s.path] = true
		return
	}
	l.came(s, e)
}

// came notes where a value comes from.
func (l *layer) came(s *shape, e entry) {
	l.to.origins[l.item+s.path] = origin{e.spot(), l.profile}
}

// set puts what e says into v, unless there is something wrong with it.
func (l *layer) set(s *shape, v reflect.Value, e entry) *problem {
	switch s.kind {
	case flag:
		b, wrong := s.flag(e.value)
		v.SetBool(b)
		return wrong
	case text:
		t, wrong := s.text(e.value)
		v.SetString(t)
		return wrong
	case texts:
		v.Set(reflect.ValueOf(l.list(s.rule, e)))
		return nil
	case moment:
		at, wrong := s.time(e.value)
		v.Set(reflect.ValueOf(at))
		return wrong
	case pairs:
		v.Set(reflect.ValueOf(l.pairs(s.rule, e)))
		return nil
	case faultList:
		v.Set(reflect.ValueOf(l.faults(e)))
		return nil
	default:
		n, wrong := s.measure(e.value)
		if wrong == nil {
			s.setNumber(v, n)
		}
		return wrong
	}
}

// list returns the texts of a list, or of a single text.
func (r *reader) list(rule rule, e entry) []string {
	all := []string{}
	for i, n := range r.items(e.value) {
		t, wrong := rule.text(n)
		if wrong != nil {
			r.add(where(n, e.key.path+"["+strconv.Itoa(i)+"]"), wrong.suggestion, "%s", wrong.reason)
			continue
		}
		all = append(all, t)
	}
	return all
}

// section switches a section off, or on, or goes into its fields, of which one
// may stand in its place.
func (l *layer) section(s *shape, v reflect.Value, e entry) {
	name, named := scalar(e.value)
	switch {
	case named && name == off && s.optional():
		l.forget(s)
		v.SetZero()
		if s.toggle != nil {
			v.FieldByIndex(s.toggle).SetBool(true)
		}
		l.came(s, e)
	case named && name == "on":
		l.enter(s, v, e)
	case e.value.Kind == yaml.MappingNode:
		l.fields(s, l.enter(s, v, e), l.entries(e.value, e.key.path))
	case named && s.short != "":
		f := s.find(s.short)
		l.field(f, f.at(l.enter(s, v, e)), e)
	default:
		l.add(e.spot(), l.instead(s), "%s is not a mapping", describe(e.value))
		l.to.broken[l.item+s.path] = true
	}
}

func (*layer) instead(s *shape) string {
	if s.short != "" {
		return "write on for the defaults, off to leave it out, " + s.find(s.short).noun() + ", or {name: value}"
	}
	if s.optional() {
		return "write on for the defaults, off to leave it out, or {name: value}"
	}
	return "write {name: value}; known: " + strings.Join(s.children(), ", ")
}

// enter switches a section on, and returns its struct.
func (l *layer) enter(s *shape, v reflect.Value, e entry) reflect.Value {
	if _, known := l.to.origins[l.item+s.path]; !known || l.offBefore(s, v) {
		l.came(s, e)
	}
	if s.absent {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return v.Elem()
	}
	if s.toggle != nil {
		v.FieldByIndex(s.toggle).SetBool(false)
	}
	return v
}

// offBefore reports whether an earlier layer switched the section off.
func (*layer) offBefore(s *shape, v reflect.Value) bool {
	return s.absent && v.IsNil() || s.toggle != nil && v.FieldByIndex(s.toggle).Bool()
}

// forget drops where the values of a section came from.
func (l *layer) forget(s *shape) {
	s.each(func(below *shape) {
		delete(l.to.origins, below.path)
		delete(l.to.broken, below.path)
	})
}
