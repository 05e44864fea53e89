package policyfile

import (
	"reflect"
	"slices"
	"strings"

	"github.com/backstay-go/backstay/middleware"
)

// shape is what a [middleware.Target] looks like to a file: its values by the
// names of their json tags, each with its rule.
type shape struct {
	rule
	name   string // of the last element of path
	path   string // from the target on; "" for the target itself
	index  []int  // of the field in the struct around it
	toggle []int  // of the field that switches the section off; nil if there is none
	absent bool   // a nil pointer switches the section off
	fields []*shape
}

// root is the shape of a target.
var root = target()

func target() *shape {
	s := &shape{}
	s.grow(reflect.TypeFor[middleware.Target]())
	s.fields = slices.DeleteFunc(s.fields, func(f *shape) bool { return f.name == "name" }) // it is the key of the target
	return s
}

// grow adds the fields of struct type t.
func (s *shape) grow(t reflect.Type) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch name {
		case "":
		case off:
			s.toggle = f.Index
		default:
			s.fields = append(s.fields, s.field(name, f))
		}
	}
}

func (s *shape) field(name string, f reflect.StructField) *shape {
	child := &shape{name: name, path: name, index: f.Index, absent: f.Type.Kind() == reflect.Pointer}
	if s.path != "" {
		child.path = s.path + "." + name
	}
	child.rule = rules[child.path]
	t := f.Type
	if child.absent {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct {
		child.grow(t)
	}
	return child
}

// optional reports whether a section can be switched off.
func (s *shape) optional() bool { return s.absent || s.toggle != nil }

// find returns the field called name, nil if there is none.
func (s *shape) find(name string) *shape {
	for _, f := range s.fields {
		if f.name == name {
			return f
		}
	}
	return nil
}

// children returns the names of the fields.
func (s *shape) children() []string {
	all := make([]string, len(s.fields))
	for i, f := range s.fields {
		all[i] = f.name
	}
	return all
}

// each calls f for the section and everything below it, from the top down.
func (s *shape) each(f func(*shape)) {
	f(s)
	for _, child := range s.fields {
		child.each(f)
	}
}

// at returns the field of v, a struct, that the shape describes.
func (s *shape) at(v reflect.Value) reflect.Value { return v.FieldByIndex(s.index) }

// number returns what v, a numeric field, is as a number.
func (s *shape) number(v reflect.Value) float64 {
	if v.CanFloat() {
		return v.Float()
	}
	return float64(v.Int())
}

// setNumber is the inverse of number.
func (s *shape) setNumber(v reflect.Value, n float64) {
	if v.CanFloat() {
		v.SetFloat(n)
		return
	}
	v.SetInt(toInt(n))
}

// in returns what t has for the shape; it is not valid where the section
// around it is switched off.
func (s *shape) in(t *middleware.Target) reflect.Value {
	v, at := reflect.ValueOf(t).Elem(), root
	if s == root {
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

// lookup returns the shape at path, which must exist.
func lookup(path string) *shape {
	at := root
	for name := range strings.SplitSeq(path, ".") {
		at = at.find(name)
	}
	return at
}
