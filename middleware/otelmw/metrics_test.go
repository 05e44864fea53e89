package otelmw_test

import (
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
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
		{"a handler that was answered for", backstay.Event{Kind: middleware.HandlerTimedOut, Elapsed: time.Second},
			"backstay.server.timeouts", "{handler}", "backstay.key=host" + names},
		{"an answer that was given again", backstay.Event{Kind: idempotency.KeyReplayed},
			"backstay.idempotency.events", "{event}", "backstay.key=host" + names + ",backstay.reason=replayed"},
		{"an answer that was not kept", backstay.Event{Kind: idempotency.AnswerNotKept},
			"backstay.idempotency.events", "{event}", "backstay.key=host" + names + ",backstay.reason=not_kept"},
		{"a lease that was lost", backstay.Event{Kind: idempotency.LeaseLost},
			"backstay.idempotency.events", "{event}", "backstay.key=host" + names + ",backstay.reason=lease_lost"},
		{"a key that was not freed", backstay.Event{Kind: idempotency.KeyNotFreed},
			"backstay.idempotency.events", "{event}", "backstay.key=host" + names + ",backstay.reason=not_freed"},
		{"a store of keys that failed", backstay.Event{Kind: idempotency.StoreFailed},
			"backstay.idempotency.events", "{event}", "backstay.key=host" + names + ",backstay.reason=store_failed"},
		{"work that was let through", backstay.Event{Kind: idempotency.LetThrough},
			"backstay.idempotency.events", "{event}", "backstay.key=host" + names + ",backstay.reason=let_through"},
		{"a step of an actor", backstay.Event{Kind: backstay.StepDone, Elapsed: time.Second},
			"backstay.actor.steps", "{step}", "backstay.actor.type=payments,backstay.key=host,backstay.operation=charge,backstay.outcome=success,backstay.policy=payments"},
		{"a step that ended in an error", backstay.Event{Kind: backstay.StepDone, Outcome: backstay.Outcome{Class: backstay.Permanent}},
			"backstay.actor.steps", "{step}", "backstay.actor.type=payments,backstay.key=host,backstay.operation=charge,backstay.outcome=permanent,backstay.policy=payments"},
		{"the time of a step", backstay.Event{Kind: backstay.StepDone, Elapsed: time.Second},
			"backstay.actor.step.duration", "s", "backstay.actor.type=payments,backstay.key=host,backstay.operation=charge,backstay.outcome=success,backstay.policy=payments"},
		{"a request that came too late", backstay.Event{Kind: backstay.RequestGivenUp, Reason: backstay.ReasonExpired},
			"backstay.actor.expired", "{request}", "backstay.actor.type=payments,backstay.key=host" + names},
		{"a request that found no room", backstay.Event{Kind: backstay.RequestGivenUp, Reason: backstay.ReasonMailboxFull},
			"backstay.actor.refused", "{request}", "backstay.actor.type=payments,backstay.key=host" + names},
		{"a letter about a request that is poison", backstay.Event{Kind: backstay.DeadLetter, Reason: backstay.ReasonPoison},
			"backstay.actor.dead_letters", "{letter}", "backstay.actor.type=payments,backstay.key=host" + names + ",backstay.reason=poison"},
		{"a record that cannot be read", backstay.Event{Kind: backstay.RecordSkipped},
			"backstay.actor.dead_letters", "{letter}", "backstay.actor.type=payments,backstay.key=host" + names + ",backstay.reason=skipped"},
		{"a message that is lost", backstay.Event{Kind: backstay.OutputLost},
			"backstay.actor.dead_letters", "{letter}", "backstay.actor.type=payments,backstay.key=host" + names + ",backstay.reason=lost"},
		{"a takeover", backstay.Event{Kind: backstay.PartitionOwned, Elapsed: time.Second},
			"backstay.actor.takeovers", "{takeover}", "backstay.actor.type=payments,backstay.key=host" + names},
		{"the time of a takeover", backstay.Event{Kind: backstay.PartitionOwned, Elapsed: time.Second},
			"backstay.actor.takeover.duration", "s", "backstay.actor.type=payments,backstay.key=host,backstay.operation=charge,backstay.phase=whole,backstay.policy=payments"},
		{"the time of a phase of it", backstay.Event{Kind: backstay.TakeoverPhase, Reason: backstay.ReasonReplay, Elapsed: time.Second},
			"backstay.actor.takeover.duration", "s", "backstay.actor.type=payments,backstay.key=host,backstay.operation=charge,backstay.phase=replay,backstay.policy=payments"},
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
	for _, k := range []backstay.Kind{backstay.LimitChanged, backstay.PipelineEvicted, backstay.RequestGivenUp, backstay.StepFailed, "of another package", ""} {
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
