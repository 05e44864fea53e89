package otelmw

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
)

// eventNames are those of the events within a span.
var eventNames = map[backstay.Kind]string{
	backstay.RetryPlanned:      "backstay.retry.planned",
	backstay.RetrySuppressed:   "backstay.retry.suppressed",
	backstay.CallRejected:      "backstay.call.rejected",
	backstay.BreakerChanged:    "backstay.breaker.changed",
	backstay.HedgeStarted:      "backstay.hedge.started",
	backstay.HedgeDone:         "backstay.hedge.done",
	backstay.FallbackUsed:      "backstay.fallback.used",
	backstay.FaultInjected:     "backstay.fault.injected",
	backstay.CallbackPanicked:  "backstay.callback.panicked",
	middleware.HandlerPanicked: "backstay.handler.panicked",
}

// annotate puts e into the span of ctx, which is that of the call: it shows why
// there was a wait, or no further attempt.
func annotate(ctx context.Context, e *backstay.Event) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	if name, ok := eventNames[e.Kind]; ok {
		span.AddEvent(name, trace.WithAttributes(facts(e)...))
	}
}

// facts are the fields that e has.
func facts(e *backstay.Event) []attribute.KeyValue {
	all := details{{keyReason, string(e.Reason)}, {keyRung, e.Rung}}.onto(nil)
	all = details{{keyFrom, e.From}, {keyTo, e.To}}.onto(all)
	if e.Attempt > 0 {
		all = append(all, keyAttempt.Int(e.Attempt))
	}
	if e.Copy > 0 {
		all = append(all, keyCopy.Int(e.Copy))
	}
	if e.Wait > 0 {
		all = append(all, keyWait.Float64(e.Wait.Seconds()))
	}
	if e.Outcome.Class != backstay.Success {
		all = append(all, keyOutcome.String(e.Outcome.Class.String()))
	}
	if e.Err != nil {
		all = append(all, keyError.String(valid(e.Err.Error())))
	}
	return all
}
