package otelmw_test

import (
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
)

// names stand in the attributes of every event of this test.
func named(e backstay.Event) backstay.Event {
	e.Policy, e.Key, e.Operation = "payments", "host", "charge"
	return e
}

const names = ",backstay.operation=charge,backstay.policy=payments"

// Each row is an event, and the series that it moves.
func TestAnEventMovesItsMetric(t *testing.T) {
	overload := backstay.Outcome{Class: backstay.Overload}
	for _, row := range []struct {
		name   string
		e      backstay.Event
		metric string
		unit   string
		series string
	}{
		{"a call that went well", backstay.Event{Kind: backstay.CallDone},
			"backstay.calls", "{call}", "backstay.key=host,backstay.operation=charge,backstay.outcome=success,backstay.policy=payments"},
		{"a call that failed, and why no more was tried", backstay.Event{Kind: backstay.CallDone, Outcome: overload, Reason: backstay.ReasonBudgetEmpty},
			"backstay.calls", "{call}", "backstay.key=host,backstay.operation=charge,backstay.outcome=overload,backstay.policy=payments,backstay.reason=budget_empty"},
		{"the time of a call", backstay.Event{Kind: backstay.CallDone, Outcome: overload, Reason: backstay.ReasonBudgetEmpty, Elapsed: time.Second},
			"backstay.call.duration", "s", "backstay.key=host,backstay.operation=charge,backstay.outcome=overload,backstay.policy=payments"},
		{"an attempt", backstay.Event{Kind: backstay.AttemptDone, Attempt: 2, Outcome: overload},
			"backstay.attempts", "{attempt}", "backstay.attempt.outcome=overload,backstay.key=host,backstay.operation=charge,backstay.policy=payments"},
		{"a class that nobody knows", backstay.Event{Kind: backstay.AttemptDone, Outcome: backstay.Outcome{Class: 99}},
			"backstay.attempts", "{attempt}", "backstay.attempt.outcome=unknown,backstay.key=host,backstay.operation=charge,backstay.policy=payments"},
		{"a retry", backstay.Event{Kind: backstay.RetryPlanned, Outcome: overload},
			"backstay.retries", "{retry}", "backstay.key=host" + names + ",backstay.reason=overload"},
		{"no retry", backstay.Event{Kind: backstay.RetrySuppressed, Outcome: overload, Reason: backstay.ReasonNoTime},
			"backstay.retries.suppressed", "{retry}", "backstay.key=host" + names + ",backstay.reason=no_time"},
		{"a refusal", backstay.Event{Kind: backstay.CallRejected, Reason: backstay.ReasonTooLate},
			"backstay.rejections", "{rejection}", "backstay.key=host" + names + ",backstay.reason=too_late"},
		{"a breaker that opens", backstay.Event{Kind: backstay.BreakerChanged, From: "closed", To: "open", Reason: "failure_ratio"},
			"backstay.breaker.transitions", "{transition}", "backstay.cause=failure_ratio,backstay.from=closed,backstay.key=host" + names + ",backstay.to=open"},
		{"a copy that won", backstay.Event{Kind: backstay.HedgeDone, Copy: 2, Reason: backstay.ReasonHedgeWon},
			"backstay.hedges", "{hedge}", "backstay.copy=2,backstay.key=host" + names + ",backstay.reason=won"},
		{"the delay of a copy", backstay.Event{Kind: backstay.HedgeStarted, Copy: 2, Wait: 20 * time.Millisecond},
			"backstay.hedge.delay", "s", "backstay.key=host" + names},
		{"a fallback", backstay.Event{Kind: backstay.FallbackUsed, Rung: "cached"},
			"backstay.fallbacks", "{fallback}", "backstay.key=host" + names + ",backstay.rung=cached"},
		{"a drill of a fallback", backstay.Event{Kind: backstay.FallbackUsed, Rung: "cached", Reason: "drill"},
			"backstay.fallbacks", "{fallback}", "backstay.key=host" + names + ",backstay.reason=drill,backstay.rung=cached"},
		{"a header that could not be used", backstay.Event{Kind: backstay.HeaderIgnored, Reason: "X-Priority"},
			"backstay.headers.ignored", "{header}", "backstay.key=host" + names + ",backstay.reason=X-Priority"},
		{"a policy file that was loaded", backstay.Event{Kind: middleware.PoliciesLoaded},
			"backstay.policy.reloads", "{reload}", "backstay.key=host,backstay.operation=charge,backstay.outcome=loaded,backstay.policy=payments"},
		{"a policy file that was refused", backstay.Event{Kind: middleware.PoliciesRefused},
			"backstay.policy.reloads", "{reload}", "backstay.key=host,backstay.operation=charge,backstay.outcome=refused,backstay.policy=payments"},
		{"a policy that could not be applied", backstay.Event{Kind: middleware.PolicyNotApplied},
			"backstay.policy.reloads", "{reload}", "backstay.key=host,backstay.operation=charge,backstay.outcome=not_applied,backstay.policy=payments"},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newLab(t)
			l.Observe(t.Context(), named(row.e))
			l.want(row.metric, map[string]float64{row.series: 1})
			if m := l.metric(row.metric); m != nil && m.Unit != row.unit {
				t.Errorf("the unit is %q, want %q", m.Unit, row.unit)
			}
		})
	}
}

func TestWhatHasNoMetricIsLeftAlone(t *testing.T) {
	l := newLab(t)
	for _, k := range []backstay.Kind{backstay.LimitChanged, backstay.PipelineEvicted, "of another package", ""} {
		l.Observe(t.Context(), named(backstay.Event{Kind: k}))
	}
	var all metricdata.ResourceMetrics
	if err := l.metrics.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	if len(all.ScopeMetrics) > 0 {
		t.Errorf("got %+v", all.ScopeMetrics)
	}
}

func TestNamesThatAreMissingAreNoAttributes(t *testing.T) {
	l := newLab(t)
	l.Observe(t.Context(), backstay.Event{Kind: backstay.CallDone})
	l.want("backstay.calls", map[string]float64{"backstay.outcome=success": 1})
}

func TestDurationsAreInSecondsAndInTheBucketsAskedFor(t *testing.T) {
	l := newLab(t)
	l.Observe(t.Context(), backstay.Event{Kind: backstay.CallDone, Elapsed: 1500 * time.Millisecond})
	h := l.metric("backstay.call.duration").Data.(metricdata.Histogram[float64]).DataPoints[0]
	if h.Sum != 1.5 || h.Bounds[0] != 0.001 || h.Bounds[len(h.Bounds)-1] != 10 {
		t.Errorf("sum %v, bounds %v", h.Sum, h.Bounds)
	}
}
