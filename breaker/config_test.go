package breaker_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
)

func TestConfigsThatAreValid(t *testing.T) {
	for name, c := range map[string]breaker.Config{
		"the zero value":                     {},
		"a window smaller than min calls":    {Window: 3},
		"a window of one call":               {Window: 1, MinCalls: 1},
		"a large window":                     {Window: 10_000, MinCalls: 10_000},
		"a time window":                      {TimeWindow: time.Minute, Buckets: 60, MinCalls: 10_000},
		"consecutive failures only":          {FailureRatio: breaker.NoFailureRatio, Consecutive: 5},
		"more consecutive than the window":   {Window: 10, Consecutive: 100},
		"slow calls only":                    {FailureRatio: breaker.NoFailureRatio, SlowAfter: 1, SlowRatio: 1},
		"open for longer than default bound": {OpenFor: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := breaker.New(c); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestConfigsThatAreNot(t *testing.T) {
	for name, c := range map[string]struct {
		config breaker.Config
		path   string
	}{
		"a negative window":                    {breaker.Config{Window: -1}, "window"},
		"a huge window":                        {breaker.Config{Window: 10_001}, "window"},
		"two kinds of window":                  {breaker.Config{Window: 20, TimeWindow: time.Second}, "window"},
		"a negative time window":               {breaker.Config{TimeWindow: -1}, "time_window"},
		"a time window of tiny buckets":        {breaker.Config{TimeWindow: 9 * time.Millisecond}, "time_window"},
		"a time window of a day":               {breaker.Config{TimeWindow: 24 * time.Hour}, "time_window"},
		"negative buckets":                     {breaker.Config{TimeWindow: time.Second, Buckets: -1}, "buckets"},
		"too many buckets":                     {breaker.Config{TimeWindow: time.Second, Buckets: 101}, "buckets"},
		"buckets without a time window":        {breaker.Config{Buckets: 10}, "buckets"},
		"a negative ratio":                     {breaker.Config{FailureRatio: -0.5}, "failure_ratio"},
		"a ratio above one":                    {breaker.Config{FailureRatio: 1.01}, "failure_ratio"},
		"a ratio that is no number":            {breaker.Config{FailureRatio: math.NaN()}, "failure_ratio"},
		"an infinite ratio":                    {breaker.Config{FailureRatio: math.Inf(1)}, "failure_ratio"},
		"no rule at all":                       {breaker.Config{FailureRatio: breaker.NoFailureRatio}, "failure_ratio"},
		"negative min calls":                   {breaker.Config{MinCalls: -1}, "min_calls"},
		"more min calls than the window":       {breaker.Config{MinCalls: 21}, "min_calls"},
		"negative consecutive":                 {breaker.Config{Consecutive: -1}, "consecutive"},
		"a negative slow time":                 {breaker.Config{SlowAfter: -1}, "slow_after"},
		"a slow ratio without a slow time":     {breaker.Config{SlowRatio: 0.5}, "slow_ratio"},
		"a slow ratio that is no number":       {breaker.Config{SlowAfter: 1, SlowRatio: math.NaN()}, "slow_ratio"},
		"open for less than a millisecond":     {breaker.Config{OpenFor: time.Microsecond}, "open_for"},
		"open for ever":                        {breaker.Config{OpenFor: math.MaxInt64}, "open_for"},
		"a bound below the first opening":      {breaker.Config{OpenFor: 2 * time.Second, MaxOpenFor: time.Second}, "max_open_for"},
		"a bound below the default opening":    {breaker.Config{MaxOpenFor: time.Second}, "max_open_for"},
		"negative probes":                      {breaker.Config{Probes: -1}, "probes"},
		"too many probes":                      {breaker.Config{Probes: 1001}, "probes"},
		"a negative lease":                     {breaker.Config{ProbeLease: -1}, "probe_lease"},
		"a lease of less than a millisecond":   {breaker.Config{ProbeLease: 1}, "probe_lease"},
		"a lease of more than a day":           {breaker.Config{ProbeLease: 25 * time.Hour}, "probe_lease"},
		"a slow time of more than a day":       {breaker.Config{SlowAfter: 25 * time.Hour}, "slow_after"},
		"more consecutive than can be counted": {breaker.Config{Consecutive: 10_001}, "consecutive"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.config.Validate()
			fault, ok := errors.AsType[*backstay.FieldError](err)
			if !ok || fault.Path != c.path {
				t.Errorf("err %v, want a fault of %s", err, c.path)
			}
			if strings.Count(err.Error(), "\n") != 0 {
				t.Errorf("more than one fault: %v", err)
			}
			if _, err := breaker.New(c.config); err == nil || !strings.HasPrefix(err.Error(), "breaker."+c.path) {
				t.Errorf("New: %v", err)
			}
		})
	}
}

func TestAllFaultsAreToldAtOnce(t *testing.T) {
	err := breaker.Config{
		Window: -1, FailureRatio: 2, MinCalls: -1, Consecutive: -1, SlowAfter: -1, SlowRatio: 2,
		OpenFor: -1, MaxOpenFor: -5, Probes: -1, ProbeLease: -1,
	}.Validate()
	for _, path := range []string{
		"window", "failure_ratio", "min_calls", "consecutive", "slow_after", "slow_ratio",
		"open_for", "max_open_for", "probes", "probe_lease",
	} {
		if !strings.Contains(err.Error(), path+": ") {
			t.Errorf("%s is missing in:\n%v", path, err)
		}
	}
}

func TestConfigIsWrittenInSnakeCase(t *testing.T) {
	text, err := json.Marshal(breaker.Config{
		Window: 1, TimeWindow: 2, Buckets: 3, FailureRatio: 4, MinCalls: 5, Consecutive: 6, SlowAfter: 7,
		SlowRatio: 8, OpenFor: 9, MaxOpenFor: 10, Probes: 11, ProbeLease: 12,
	})
	const want = `{"window":1,"time_window":2,"buckets":3,"failure_ratio":4,"min_calls":5,"consecutive":6,` +
		`"slow_after":7,"slow_ratio":8,"open_for":9,"max_open_for":10,"probes":11,"probe_lease":12}`
	if err != nil || string(text) != want {
		t.Errorf("got %s, %v", text, err)
	}
}
