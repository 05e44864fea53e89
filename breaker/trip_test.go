package breaker_test

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
)

func TestTrip(t *testing.T) {
	ratios := breaker.Config{SlowAfter: time.Second, SlowRatio: 0.8}
	rows := breaker.Config{FailureRatio: breaker.NoFailureRatio, Consecutive: 5}
	for _, c := range []struct {
		name   string
		config breaker.Config
		counts breaker.Counts
		why    backstay.Reason
	}{
		{"nothing happened yet", ratios, breaker.Counts{}, ""},
		{"half of the calls failed", ratios, breaker.Counts{Calls: 20, Failures: 10}, breaker.ReasonFailureRatio},
		{"not quite half of the calls failed", ratios, breaker.Counts{Calls: 20, Failures: 9}, ""},
		{"all failed but there are too few", ratios, breaker.Counts{Calls: 9, Failures: 9, Slow: 9, Consecutive: 9}, ""},
		{"there are just enough", ratios, breaker.Counts{Calls: 10, Failures: 5}, breaker.ReasonFailureRatio},
		{"most calls are slow", ratios, breaker.Counts{Calls: 10, Slow: 8}, breaker.ReasonSlowRatio},
		{"not quite enough are slow", ratios, breaker.Counts{Calls: 10, Slow: 7}, ""},
		{"slow calls without a slow rule", breaker.Config{}, breaker.Counts{Calls: 20, Slow: 20}, ""},
		{"eleven of twenty are 0.55", breaker.Config{FailureRatio: 0.55}, breaker.Counts{Calls: 20, Failures: 11}, breaker.ReasonFailureRatio},
		{"all of them, at a ratio of one", breaker.Config{FailureRatio: 1}, breaker.Counts{Calls: 20, Failures: 20}, breaker.ReasonFailureRatio},
		{"all but one, at a ratio of one", breaker.Config{FailureRatio: 1}, breaker.Counts{Calls: 20, Failures: 19}, ""},
		{"a row of failures asks for no minimum", rows, breaker.Counts{Calls: 5, Failures: 5, Consecutive: 5}, breaker.ReasonConsecutive},
		{"a shorter row", rows, breaker.Counts{Calls: 4, Failures: 4, Consecutive: 4}, ""},
		{"the ratio is off", rows, breaker.Counts{Calls: 20, Failures: 19, Consecutive: 4}, ""},
		{"a row without that rule", breaker.Config{}, breaker.Counts{Calls: 9, Failures: 9, Consecutive: 9}, ""},
		{"a small window needs no ten calls", breaker.Config{Window: 4}, breaker.Counts{Calls: 4, Failures: 2}, breaker.ReasonFailureRatio},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := must(breaker.New(c.config))
			if trips, why := b.Trip(c.counts); trips != (c.why != "") || why != c.why {
				t.Errorf("got %v %q, want %q", trips, why, c.why)
			}
		})
	}
}
