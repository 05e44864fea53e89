package policyfile

import (
	"reflect"
	"slices"
	"strings"

	"github.com/backstay-go/backstay/middleware"
)

// shape is what a struct of settings looks like to a file: its values by the
// names of their json tags, each with its rule.
type shape struct {
	rule
	name   string // of the last element of path
	path   string // from the root on; "" for the root itself
	index  []int  // of the field in the struct around it
	toggle []int  // of the field that switches the section off; nil if there is none
	absent bool   // a nil pointer switches the section off
	fields []*shape
}

// The shapes that there are: of a target, of the server, and of one fault of a
// target.
var (
	root       = rooted[middleware.Target](rules).without("name") // it is the key of the target
	serverRoot = rooted[middleware.Server](serverRules)
	faultRoot  = rooted[middleware.Fault](faultRules)
)

func rooted[T any](known map[string]rule) *shape {
	s := &shape{}
	s.grow(reflect.TypeFor[T](), known)
	return s
}

// without takes the field called name away.
func (s *shape) without(name string) *shape {
	s.fields = slices.DeleteFunc(s.fields, func(f *shape) bool { return f.name == name })
	return s
}

// grow adds the fields of struct type t.
func (s *shape) grow(t reflect.Type, known map[string]rule) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch name {
		case "":
		case off:
			s.toggle = f.Index
		default:
			s.fields = append(s.fields, s.field(name, f, known))
		}
	}
}

func (s *shape) field(name string, f reflect.StructField, known map[string]rule) *shape {
	child := &shape{name: name, path: name, index: f.Index, absent: f.Type.Kind() == reflect.Pointer}
	if s.path != "" {
		child.path = s.path + "." + name
	}
	child.rule = known[child.path]
	t := f.Type
	if child.absent {
		t = t.Elem()
	}
	if child.kind == section && t.Kind() == reflect.Struct {
		child.grow(t, known)
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

// under returns the shape at path from s on; nil if there is none.
func (s *shape) under(path string) *shape {
	for name := range strings.SplitSeq(path, ".") {
		if s = s.find(name); s == nil {
			return nil
		}
	}
	return s
}
