package otelmw

import (
	"context"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.39.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
)

// Observer turns events into metrics and spans: it is a [backstay.Observer]
// and a [backstay.Tracer]. One serves any number of pipelines, transports and
// clients. It is safe for concurrent use and owns no goroutine.
type Observer struct {
	instruments

	cast         cast
	tracer       trace.Tracer
	propagator   propagation.TextMapPropagator
	attemptSpans bool
	gauges       gauges
	watched      watched[Source]
	nodes        watched[ActorSource]
	reading      metric.Registration // of what reads the gauges
}

var (
	_ backstay.Observer = (*Observer)(nil)
	_ backstay.Tracer   = (*Observer)(nil)
)

// New returns an Observer, or what is wrong with its options, or what the
// meter provider says against its instruments.
func New(options ...Option) (*Observer, error) {
	s, err := settle(options)
	if err != nil {
		return nil, backstay.Under("otelmw", err)
	}
	o := &Observer{
		cast:         cast{maxNames: s.maxNames},
		tracer:       s.tracers.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL)),
		propagator:   s.propagator,
		attemptSpans: s.attemptSpans,
	}
	m := maker{meter: s.meters.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL)), bounds: s.bounds()}
	o.instruments = m.instruments()
	o.gauges = m.gauges()
	if m.faults == nil {
		o.reading, m.faults = m.meter.RegisterCallback(o.read, o.gauges.all()...)
	}
	if m.faults != nil {
		return nil, m.faults
	}
	return o, nil
}

// Observe counts e, and puts what a trace should show of it into the span of
// ctx. Kinds that it does not know it leaves alone.
func (o *Observer) Observe(ctx context.Context, e backstay.Event) {
	switch e.Kind {
	case backstay.CallDone:
		o.callDone(ctx, &e)
	case backstay.AttemptDone:
		if o.attempts.Enabled(ctx) {
			o.attempts.Add(ctx, 1, o.seriesOf(&e).tried(e.Outcome.Class).add...)
		}
	default:
		o.count(ctx, &e)
		annotate(ctx, &e)
	}
}

func (o *Observer) callDone(ctx context.Context, e *backstay.Event) {
	if !o.calls.Enabled(ctx) && !o.duration.Enabled(ctx) {
		return
	}
	s := o.seriesOf(e)
	l := s.called(e.Outcome.Class)
	o.duration.Record(ctx, e.Elapsed.Seconds(), l.record...)
	if e.Reason != "" {
		l = s.with(details{{keyOutcome, e.Outcome.Class.String()}, {keyReason, string(e.Reason)}})
	}
	o.calls.Add(ctx, 1, l.add...)
}

// count counts what does not happen in every call.
func (o *Observer) count(ctx context.Context, e *backstay.Event) {
	switch e.Kind {
	case backstay.HedgeStarted:
		o.time(ctx, o.hedgeDelay, e, e.Wait, details{})
	case backstay.StepDone:
		o.time(ctx, o.actors.stepDuration, e, e.Elapsed, stepDetails(e))
	case backstay.PartitionOwned, backstay.TakeoverPhase:
		o.time(ctx, o.actors.takeoverDuration, e, e.Elapsed, phaseDetails(e))
	default: // only counted
	}
	if counter, d := o.counterOf(e); counter != nil && counter.Enabled(ctx) {
		counter.Add(ctx, 1, o.seriesOf(e).with(d).add...)
	}
}

// time records d.
func (o *Observer) time(ctx context.Context, in metric.Float64Histogram, e *backstay.Event, d time.Duration, with details) {
	if in.Enabled(ctx) {
		in.Record(ctx, d.Seconds(), o.seriesOf(e).with(with).record...)
	}
}

// counterOf returns what e counts, and with which attributes; nil if nothing.
func (o *Observer) counterOf(e *backstay.Event) (metric.Int64Counter, details) {
	switch e.Kind {
	case backstay.RetryPlanned:
		return o.retries, details{{keyReason, e.Outcome.Class.String()}}
	case backstay.RetrySuppressed:
		return o.suppressed, details{{keyReason, string(e.Reason)}}
	case backstay.CallRejected:
		return o.rejections, details{{keyReason, string(e.Reason)}}
	case backstay.BreakerChanged:
		return o.transitions, details{{keyFrom, e.From}, {keyTo, e.To}, {keyCause, string(e.Reason)}}
	case backstay.HedgeDone:
		return o.hedges, details{{keyReason, string(e.Reason)}, {keyCopy, strconv.Itoa(e.Copy)}}
	case backstay.FallbackUsed:
		return o.fallbacks, details{{keyRung, e.Rung}, {keyReason, string(e.Reason)}}
	case backstay.HeaderIgnored:
		return o.ignored, details{{keyReason, string(e.Reason)}}
	case middleware.PoliciesLoaded:
		return o.reloads, details{{keyOutcome, "loaded"}}
	case middleware.PoliciesRefused:
		return o.reloads, details{{keyOutcome, "refused"}}
	case middleware.PolicyNotApplied:
		return o.reloads, details{{keyOutcome, "not_applied"}}
	case middleware.HandlerTimedOut:
		return o.timeouts, details{}
	default:
		if reason, ok := keyEvents[e.Kind]; ok {
			return o.keys, details{{keyReason, reason}}
		}
		return o.actors.counterOf(e)
	}
}

// keyEvents are the reasons of backstay.idempotency.events.
var keyEvents = map[backstay.Kind]string{
	idempotency.KeyReplayed:   "replayed",
	idempotency.LeaseLost:     "lease_lost",
	idempotency.AnswerNotKept: "not_kept",
	idempotency.KeyNotFreed:   "not_freed",
	idempotency.StoreFailed:   "store_failed",
	idempotency.LetThrough:    "let_through",
}

func (o *Observer) seriesOf(e *backstay.Event) *series {
	return o.cast.of(e.Policy, e.Key, e.Operation)
}
