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

func TestEveryValueOfATargetHasARuleAndEveryRuleAValue(t *testing.T) {
	left := map[string]bool{}
	for path := range rules {
		left[path] = true
	}
	root.each(func(s *shape) {
		if s == root {
			return
		}
		if !left[s.path] {
			t.Errorf("%s has no rule", s.path)
		}
		delete(left, s.path)
		if s.about == "" || (s.kind == section) != (len(s.fields) > 0) || s.kind != section && s.standard == "" {
			t.Errorf("the rule of %s is not complete: %+v", s.path, s.rule)
		}
	})
	for path := range left {
		t.Errorf("the rule of %s is for nothing", path)
	}
}

func TestKindsAreThoseOfTheFields(t *testing.T) {
	target := full()
	root.each(func(s *shape) {
		v := s.in(&target)
		var ok bool
		switch s.kind {
		case section:
			return
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
		}
		if !ok {
			t.Errorf("%s is a %v", s.path, v.Type())
		}
	})
}

// faultOf returns what the policies themselves say about the value at path,
// where s has v and everything else its default.
func faultOf(s *shape, v float64) *backstay.FieldError {
	t := full()
	s.setNumber(s.in(&t), v)
	for _, err := range flatten(t.Validate()) {
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
}

func TestWhatARuleAdmitsThePolicyTakes(t *testing.T) {
	root.each(func(s *shape) {
		if s.kind == section || s.kind == flag || s.kind == text || s.kind == texts || together[s.path] {
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
			if f := faultOf(s, s.value(v)); f != nil {
				t.Errorf("%s admits %v: %v", s.path, v, f)
			}
		}
		for name, v := range s.names {
			if f := faultOf(s, v); f != nil {
				t.Errorf("%s admits %s: %v", s.path, name, f)
			}
		}
	})
}

func TestWhatAPolicyRefusesNoRuleAdmits(t *testing.T) {
	root.each(func(s *shape) {
		if s.kind == section || s.kind == flag || s.kind == text || s.kind == texts || together[s.path] {
			return
		}
		for _, v := range []float64{-1e9, -2, -1, -0.5, 0.5, 0.9999, 1, 1.5, 2, 100, 101, 1e3, 1e4, 1e5, 1e6, 1e7, 1e9, 1e10, 1e12, 1e14} {
			if (s.kind == count || s.kind == size || s.kind == duration) && v != math.Trunc(v) {
				continue
			}
			if f := faultOf(s, v); f != nil && s.admits(v) {
				t.Errorf("%s admits %v: %v", s.path, v, f)
			}
		}
	})
}

func TestDefaultsAreWhatTheyMayBe(t *testing.T) {
	target := full()
	root.each(func(s *shape) {
		switch s.kind {
		case section, flag, text, texts:
			return
		default:
		}
		if s.standard == required || s.path == "bulkhead.rate.burst" || s.number(s.in(&target)) < 0 {
			return
		}
		if !s.measurable() {
			t.Errorf("the default of %s, %q, may not be written", s.path, s.standard)
		}
		if got := s.shown(&target); got != s.standard && s.path != "breaker.buckets" {
			t.Errorf("the default of %s is %q, shown as %q", s.path, s.standard, got)
		}
	})
}
