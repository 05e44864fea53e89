package policyfile

import (
	"reflect"
	"strings"

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
