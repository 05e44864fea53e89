package policyfile

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/timeout"
)

// full is a target in which every section is there, so that every value can be set.
func full() middleware.Target {
	var t middleware.Target
	fill(reflect.ValueOf(&t).Elem())
	t.Bulkhead.Rate.PerSecond = 1
	t.Deadline.Total, t.Timeout.After = deadline.NoTotal, timeout.Off // which bound others
	return t
}

// form is one of the structs that a file sets.
type form struct {
	name  string
	root  *shape
	rules map[string]rule
	full  func() values
}

// validate asks x itself for its faults.
func validate(x values) error {
	return x.v.Interface().(interface{ Validate() error }).Validate()
}

var forms = []form{
	{"target", root, rules, func() values {
		t := full()
		return ofTarget(&t)
	}},
	{"server", serverRoot, serverRules, func() values {
		var s middleware.Server
		fill(reflect.ValueOf(&s).Elem())
		s.Bulkhead.Rate.PerSecond = 1
		s.Deadline.Cap = deadline.NoCap
		return ofServer(&s)
	}},
	{"fault", faultRoot, faultRules, func() values {
		f := middleware.Fault{Name: "a", Kind: middleware.FaultStatus, Share: 1, Status: 503}
		return ofFault(&f)
	}},
}

// eachValue calls f for every value of every form.
func eachValue(f func(form, *shape)) {
	for _, of := range forms {
		of.root.each(func(s *shape) {
			if s != of.root && s.kind != section {
				f(of, s)
			}
		})
	}
}

// numeric reports whether s is a number whose bounds are its own.
func numeric(of form, s *shape) bool {
	switch s.kind {
	case duration, count, size, share, number:
		return !together[s.path] && !together[of.name+" "+s.path]
	default:
		return false
	}
}

func fill(v reflect.Value) {
	for _, f := range v.Fields() {
		if f.Kind() == reflect.Pointer {
			f.Set(reflect.New(f.Type().Elem()))
			f = f.Elem()
		}
		if f.Kind() == reflect.Struct {
			fill(f)
		}
	}
}

func TestEveryValueHasARuleAndEveryRuleAValue(t *testing.T) {
	for _, of := range forms {
		left := map[string]bool{}
		for path := range of.rules {
			left[path] = true
		}
		of.root.each(func(s *shape) {
			if s == of.root {
				return
			}
			if !left[s.path] {
				t.Errorf("%s %s has no rule", of.name, s.path)
			}
			delete(left, s.path)
			if s.about == "" || (s.kind == section) != (len(s.fields) > 0) || s.kind != section && s.standard == "" {
				t.Errorf("the rule of %s %s is not complete: %+v", of.name, s.path, s.rule)
			}
		})
		for path := range left {
			if path != "name" || of.name != "target" {
				t.Errorf("the rule of %s %s is for nothing", of.name, path)
			}
		}
	}
}

func TestKindsAreThoseOfTheFields(t *testing.T) {
	eachValue(func(of form, s *shape) {
		x := of.full()
		v := x.in(s)
		var ok bool
		switch s.kind {
		case duration:
			ok = v.Type() == reflect.TypeFor[time.Duration]()
		case count, size:
			ok = v.CanInt() && v.Type() != reflect.TypeFor[time.Duration]()
		case share, number:
			ok = v.CanFloat()
		case flag:
			ok = v.Kind() == reflect.Bool
		case text:
			ok = v.Kind() == reflect.String
		case texts:
			ok = v.Type() == reflect.TypeFor[[]string]()
		case moment:
			ok = v.Type() == reflect.TypeFor[time.Time]()
		case pairs:
			ok = v.Type() == reflect.TypeFor[map[string]string]()
		case faultList:
			ok = v.Type() == reflect.TypeFor[[]middleware.Fault]()
		default:
		}
		if !ok {
			t.Errorf("%s %s is a %v", of.name, s.path, v.Type())
		}
	})
}

// faultOf returns what the policies themselves say about the value at path,
// where s has v and everything else its default.
func faultOf(of form, s *shape, v float64) *backstay.FieldError {
	x := of.full()
	s.setNumber(x.in(s), v)
	for _, err := range flatten(validate(x)) {
		if f, ok := errors.AsType[*backstay.FieldError](err); ok && f.Path == s.path {
			return f
		}
	}
	return nil
}

// together are the values whose bounds depend on others, so that a rule says
// more or less than the policy alone.
var together = map[string]bool{
	"breaker.window": true, "breaker.buckets": true, "breaker.time_window": true, "breaker.min_calls": true,
	"breaker.max_open_for": true, "breaker.slow_ratio": true, "breaker.failure_ratio": true,
	"bulkhead.max_wait": true, "bulkhead.limit": true, "bulkhead.adaptive.max": true, "bulkhead.adaptive.min": true,
	"bulkhead.priorities.sheddable_share": true, "bulkhead.priorities.default_share": true,
	"deadline.total": true, "timeout.after": true, "hedge.ceiling": true, "hedge.floor": true, "retry.base": true, "retry.cap": true,
	"server idempotency.lease": true, "server idempotency.retention": true,
	"fault latency.mean": true, "fault latency.deviation": true, "fault latency.min": true, "fault latency.max": true, "fault after": true,
}

func TestWhatARuleAdmitsThePolicyTakes(t *testing.T) {
	eachValue(func(of form, s *shape) {
		if !numeric(of, s) {
			return
		}
		low, high := s.low, s.high
		if s.above {
			low = math.Nextafter(low, 2)
		}
		if s.below {
			high = math.Nextafter(high, 0)
		}
		for _, v := range []float64{low, high} {
			if f := faultOf(of, s, s.value(v)); f != nil {
				t.Errorf("%s %s admits %v: %v", of.name, s.path, v, f)
			}
		}
		for name, v := range s.names {
			if f := faultOf(of, s, v); f != nil {
				t.Errorf("%s %s admits %s: %v", of.name, s.path, name, f)
			}
		}
	})
}

func TestWhatAPolicyRefusesNoRuleAdmits(t *testing.T) {
	eachValue(func(of form, s *shape) {
		if !numeric(of, s) {
			return
		}
		for _, v := range []float64{-1e9, -2, -1, -0.5, 0.5, 0.9999, 1, 1.5, 2, 100, 101, 1e3, 1e4, 1e5, 1e6, 1e7, 1e9, 1e10, 1e12, 1e14} {
			if (s.kind == count || s.kind == size || s.kind == duration) && v != math.Trunc(v) {
				continue
			}
			if f := faultOf(of, s, v); f != nil && s.admits(v) {
				t.Errorf("%s %s admits %v: %v", of.name, s.path, v, f)
			}
		}
	})
}

func TestDefaultsAreWhatTheyMayBe(t *testing.T) {
	eachValue(func(of form, s *shape) {
		x := of.full()
		switch s.kind {
		case flag, text, texts, moment, pairs, faultList:
			return
		default:
		}
		if s.standard == required || s.standard == none || s.path == "bulkhead.rate.burst" || s.number(x.in(s)) < 0 {
			return
		}
		if !s.measurable() {
			t.Errorf("the default of %s %s, %q, may not be written", of.name, s.path, s.standard)
		}
		if got := x.shown(s); got != s.standard && s.path != "breaker.buckets" {
			t.Errorf("the default of %s %s is %q, shown as %q", of.name, s.path, s.standard, got)
		}
	})
}
