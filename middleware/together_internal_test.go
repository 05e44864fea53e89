package middleware

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/timeout"
)

func TestABreakerTakesOverWhatTheTimeoutsSay(t *testing.T) {
	each := func(d time.Duration) *timeout.Config { return &timeout.Config{After: d} }
	whole := func(d time.Duration) *deadline.Config { return &deadline.Config{Total: d} }
	for _, c := range []struct {
		name        string
		config      Config
		slow, lease time.Duration
	}{
		{"half the default attempt is slow", Config{Breaker: &breaker.Config{}, Timeout: each(0)}, time.Second, 0},
		{"half of any attempt is slow", Config{Breaker: &breaker.Config{}, Timeout: each(500 * time.Millisecond)}, 250 * time.Millisecond, 0},
		{"what is set stays", Config{Breaker: &breaker.Config{SlowAfter: 7, ProbeLease: time.Hour}, Timeout: each(0)}, 7, time.Hour},
		{"without a timeout nothing is slow", Config{Breaker: &breaker.Config{}, Deadline: whole(0)}, 0, 0},
		{"nor without a limit", Config{Breaker: &breaker.Config{}, Timeout: each(timeout.Off)}, 0, 0},
		{"a probe lasts as long as a long attempt", Config{Breaker: &breaker.Config{}, Timeout: each(time.Minute)}, 30 * time.Second, time.Minute},
		{"or as a long call", Config{Breaker: &breaker.Config{}, Deadline: whole(time.Hour)}, 0, time.Hour},
		{"nothing is longer than a day", Config{Breaker: &breaker.Config{}, Timeout: each(100 * time.Hour)}, 24 * time.Hour, 24 * time.Hour},
		{"a call neither", Config{Breaker: &breaker.Config{}, Deadline: whole(1000 * time.Hour)}, 0, 24 * time.Hour},
	} {
		given := *c.config.Breaker
		got := Target{Config: c.config}.joined().Breaker
		if got.SlowAfter != c.slow || got.ProbeLease != c.lease {
			t.Errorf("%s: slow after %v, lease %v", c.name, got.SlowAfter, got.ProbeLease)
		}
		if *c.config.Breaker != given {
			t.Errorf("%s: the caller's own section was changed", c.name)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if got := (Target{}).joined(); got.Breaker != nil {
		t.Error("a breaker out of nothing")
	}
}
