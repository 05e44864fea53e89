package middleware_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// faults returns the paths of all faults in err.
func faults(err error) []string {
	var paths []string
	var visit func(error)
	visit = func(err error) {
		if f, ok := err.(*backstay.FieldError); ok {
			paths = append(paths, f.Path)
		}
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				visit(e)
			}
		}
	}
	visit(err)
	slices.Sort(paths)
	return paths
}

// Acceptance case C48.
func TestC48_EveryFaultIsNamedAtOnce(t *testing.T) {
	bad := middleware.Target{
		Name: "payments",
		Config: middleware.Config{
			Fallback:    &fallback.Config{FailClosed: true, DrillShare: 0.1},
			Deadline:    &deadline.Config{Total: time.Second, Reserve: -1},
			Idempotency: &idempotency.Config{Header: "not a header"},
			Retry:       &retry.Config{MaxAttempts: -1, Budget: retry.BudgetConfig{Ratio: 2}},
			Hedge:       &hedge.Config{Percentile: 2},
			Breaker:     &breaker.Config{FailureRatio: 1.5, Probes: -1},
			Bulkhead:    &bulkhead.Config{Limit: -7},
			Timeout:     &timeout.Config{After: 2 * time.Second},
		},
		Propagate: middleware.Propagation{Hosts: []string{"good.test:80", "https://bad.test", "*.test", ""}, Header: "x-unknown"},
		HTTP:      middleware.HTTP{ReplayLimit: -2, IdleBody: -1, DrainLimit: -1, DrainTime: -1, WaitHeaders: []string{"retry-after-ms", "a b", ""}},
		Keys:      middleware.Keys{Max: -1, IdleAfter: -1},
	}
	want := []string{
		"payments.breaker.failure_ratio", "payments.breaker.probes", "payments.bulkhead.limit", "payments.deadline.reserve",
		"payments.fallback.fail_closed", "payments.hedge.percentile",
		"payments.http.drain_limit", "payments.http.drain_time", "payments.http.idle_body", "payments.http.replay_limit",
		"payments.http.wait_headers[1]", "payments.http.wait_headers[2]",
		"payments.idempotency.header", "payments.keys.idle_after", "payments.keys.max",
		"payments.propagate.header", "payments.propagate.hosts[1]", "payments.propagate.hosts[2]", "payments.propagate.hosts[3]",
		"payments.retry.budget.ratio", "payments.retry.max_attempts", "payments.timeout.after",
	}
	if got := faults(bad.Validate()); !slices.Equal(got, want) {
		t.Errorf("faults:\n%s", strings.Join(got, "\n"))
	}
	for i, p := range want {
		want[i] = "middleware." + p
	}
	p, err := middleware.New(bad)
	if got := faults(err); p != nil || !slices.Equal(got, want) {
		t.Errorf("New: %v, faults:\n%s", p, strings.Join(got, "\n"))
	}
	r, err := middleware.NewRegistry(bad)
	if got := faults(err); r != nil || !slices.Equal(got, want) {
		t.Errorf("NewRegistry: %v, faults:\n%s", r, strings.Join(got, "\n"))
	}
	bad.Name = ""
	if got := faults(bad.Validate()); got[0] != "breaker.failure_ratio" {
		t.Errorf("without a name: %q", got)
	}
}

func TestSectionsMustFitTogether(t *testing.T) {
	whole := func(total time.Duration) *deadline.Config { return &deadline.Config{Total: total} }
	each := func(after time.Duration) *timeout.Config { return &timeout.Config{After: after} }
	for _, c := range []struct {
		name   string
		config middleware.Config
		fault  string // the path; "" for none
	}{
		{"nothing at all", middleware.Config{}, ""},
		{"an attempt that lasts as long as its call", middleware.Config{Deadline: whole(time.Second), Timeout: each(time.Second)}, ""},
		{"an attempt that outlasts its call", middleware.Config{Deadline: whole(time.Second), Timeout: each(time.Second + 1)}, "timeout.after"},
		{"a total below the default attempt", middleware.Config{Deadline: whole(time.Second), Timeout: each(0)}, "deadline.total"},
		{"an attempt above the default total", middleware.Config{Deadline: whole(0), Timeout: each(time.Minute)}, "timeout.after"},
		{"no total", middleware.Config{Deadline: whole(deadline.NoTotal), Timeout: each(time.Hour)}, ""},
		{"attempts without a limit", middleware.Config{Deadline: whole(time.Second), Timeout: each(timeout.Off)}, ""},
		{"a section that is at fault itself", middleware.Config{Deadline: whole(-5), Timeout: each(time.Hour)}, "deadline.total"},

		{"room for a retry", middleware.Config{Deadline: whole(time.Second), Retry: &retry.Config{MinAttemptTime: 900 * ms}}, ""},
		{"no room for any retry", middleware.Config{Deadline: whole(time.Second), Retry: &retry.Config{MinAttemptTime: 2 * time.Second}}, "retry.min_attempt_time"},
		{"a total too short for the default retry", middleware.Config{Deadline: whole(5 * ms), Retry: &retry.Config{}}, "deadline.total"},

		{"a queue within the call", middleware.Config{Deadline: whole(time.Second), Bulkhead: &bulkhead.Config{MaxQueue: 1, MaxWait: time.Second}}, ""},
		{"a queue beyond the call", middleware.Config{Deadline: whole(time.Second), Bulkhead: &bulkhead.Config{MaxQueue: 1, MaxWait: time.Minute}}, "bulkhead.max_wait"},

		{"slow before the limit", middleware.Config{Timeout: each(time.Second), Breaker: &breaker.Config{SlowAfter: time.Second}}, ""},
		{"slow only after the limit", middleware.Config{Timeout: each(0), Breaker: &breaker.Config{SlowAfter: 3 * time.Second}}, "breaker.slow_after"},
		{"slow without a limit", middleware.Config{Breaker: &breaker.Config{SlowAfter: time.Hour}}, ""},

		{"a lease as long as an attempt", middleware.Config{Timeout: each(time.Second), Breaker: &breaker.Config{ProbeLease: time.Second}}, ""},
		{"a lease shorter than an attempt", middleware.Config{Timeout: each(3 * time.Second), Breaker: &breaker.Config{ProbeLease: time.Second}}, "timeout.after"},
		{"a lease shorter than the default attempt", middleware.Config{Timeout: each(0), Breaker: &breaker.Config{ProbeLease: time.Second}}, "breaker.probe_lease"},
		{"a lease shorter than a call", middleware.Config{Deadline: whole(time.Minute), Breaker: &breaker.Config{ProbeLease: time.Second}}, "deadline.total"},
		{"a long attempt and the default lease", middleware.Config{Timeout: each(time.Hour), Breaker: &breaker.Config{}}, ""},

		{"a copy before the limit", middleware.Config{Timeout: each(time.Second), Hedge: &hedge.Config{Delay: 999 * ms}}, ""},
		{"a copy at the limit", middleware.Config{Timeout: each(time.Second), Hedge: &hedge.Config{Delay: time.Second}}, "hedge.delay"},
		{"a copy after the call", middleware.Config{Deadline: whole(time.Second), Hedge: &hedge.Config{Delay: time.Minute}}, "hedge.delay"},
		{"a floor at the limit", middleware.Config{Timeout: each(time.Second), Hedge: &hedge.Config{Floor: time.Second, Ceiling: time.Minute}}, "hedge.floor"},
		{"a limit below the default floor", middleware.Config{Timeout: each(time.Millisecond), Hedge: &hedge.Config{}}, "timeout.after"},
		{"a copy without a permit", middleware.Config{Hedge: &hedge.Config{}, Bulkhead: &bulkhead.Config{Limit: 1}}, "bulkhead.limit"},
		{"a copy with a permit", middleware.Config{Hedge: &hedge.Config{}, Bulkhead: &bulkhead.Config{Limit: 2}}, ""},
		{"a copy under a limit that grows", middleware.Config{Hedge: &hedge.Config{}, Bulkhead: &bulkhead.Config{Limit: 1, Adaptive: &bulkhead.AdaptiveConfig{Min: 1}}}, ""},
	} {
		err := c.config.Validate()
		got := faults(err)
		if c.fault == "" && err != nil || c.fault != "" && !slices.Equal(got, []string{c.fault}) {
			t.Errorf("%s: %v", c.name, err)
		}
		if p, newErr := middleware.New(only(c.config)); (p == nil) != (err != nil) || (newErr == nil) != (err == nil) {
			t.Errorf("%s: New says %v", c.name, newErr)
		}
	}
}

func TestAFaultBetweenSectionsExplainsItself(t *testing.T) {
	for want, c := range map[string]middleware.Config{
		"timeout.after: 12s is not allowed: must be at most deadline.total, which is 10s by default: an attempt cannot outlast its call": {
			Deadline: &deadline.Config{}, Timeout: &timeout.Config{After: 12 * time.Second},
		},
		"deadline.total: 1s is not allowed: must be at least timeout.after, which is 2s by default: an attempt cannot outlast its call": {
			Deadline: &deadline.Config{Total: time.Second}, Timeout: &timeout.Config{},
		},
		"hedge.delay: 3s is not allowed: must be less than timeout.after, which is 3s: else the first copy is over before another is sent": {
			Timeout: &timeout.Config{After: 3 * time.Second}, Hedge: &hedge.Config{Delay: 3 * time.Second},
		},
	} {
		if err := c.Validate(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestRungsMustNotDegradeACallThatFailsClosed(t *testing.T) {
	p := made(t, only(middleware.Config{Fallback: &fallback.Config{FailClosed: true}}))
	rungs := fallback.Rungs(fallback.Value(42))
	if _, err := middleware.NewLadder(p, rungs); err == nil || !strings.Contains(err.Error(), "fallback.") {
		t.Errorf("rungs for it: %v", err)
	}
	// A ladder that somebody made elsewhere is not asked either.
	l, err := fallback.New(fallback.Config{}, rungs)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := middleware.DoOr(t.Context(), p, l, fails); got == 42 || !errors.Is(err, errDown) {
		t.Errorf("DoOr: %d, %v", got, err)
	}
	if got, err := middleware.Race(t.Context(), p, l, fails); got == 42 || !errors.Is(err, errDown) {
		t.Errorf("Race: %d, %v", got, err)
	}
}

func TestATargetIsData(t *testing.T) {
	zero, err := json.Marshal(middleware.Target{})
	if err != nil || string(zero) != "{}" {
		t.Errorf("the zero target is %s, %v", zero, err)
	}
	text, err := json.Marshal(middleware.Reads("catalog"))
	if err != nil {
		t.Fatal(err)
	}
	var back middleware.Target
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	again, _ := json.Marshal(back)
	if !bytes.Equal(again, text) || back.Hedge == nil || back.Fallback != nil || back.Validate() != nil {
		t.Errorf("%s came back as %s", text, again)
	}
}
