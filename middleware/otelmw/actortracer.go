package otelmw

import (
	"context"
	"math"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
)

// Actors returns the tracer of nodes of actors:
//
//	actors.Open(ctx, actors.Config{Observer: observer, Tracer: observer.Actors()}, log, hostings...)
//
// A call or query from outside of methods is a CLIENT span, a tell a PRODUCER
// span, and every run of a method a SERVER span below the one that called; the
// attempts and the links of a chain of tail calls stand side by side there,
// whichever process they ran in. What a tell runs is a trace of its own, of
// CONSUMER spans that link to the sender's: it may come much later, and go on for
// ever.
func (o *Observer) Actors() actors.Tracer { return actorTracer{o} }

type actorTracer struct{ observer *Observer }

var (
	asClient   = trace.WithSpanKind(trace.SpanKindClient)
	asProducer = trace.WithSpanKind(trace.SpanKindProducer)
	asServer   = trace.WithSpanKind(trace.SpanKindServer)
	asConsumer = trace.WithSpanKind(trace.SpanKindConsumer)
)

// Inject puts the context of ctx's span into what a request carries.
func (t actorTracer) Inject(ctx context.Context, into actors.Baggage) {
	t.observer.propagator.Inject(ctx, propagation.MapCarrier(into))
}

// StartRequest begins the span of a request from outside.
func (t actorTracer) StartRequest(ctx context.Context, r actors.Invocation) (context.Context, func(error)) {
	kind := asClient
	if r.Tell {
		kind = asProducer
	}
	return t.start(ctx, &r, keyOutcome, kind)
}

// StartRun begins the span of a run.
func (t actorTracer) StartRun(ctx context.Context, run actors.Invocation, from actors.Baggage) (context.Context, func(error)) {
	ctx = t.observer.propagator.Extract(ctx, propagation.MapCarrier(from))
	if !run.Tell {
		return t.start(ctx, &run, keyAttemptOutcome, asServer)
	}
	options := []trace.SpanStartOption{asConsumer, trace.WithNewRoot()}
	if sender := trace.LinkFromContext(ctx); sender.SpanContext.IsValid() {
		options = append(options, trace.WithLinks(sender))
	}
	return t.start(ctx, &run, keyAttemptOutcome, options...)
}

// start begins a span, and returns what ends it and notes the outcome as by.
func (t actorTracer) start(ctx context.Context, in *actors.Invocation, by attribute.Key, options ...trace.SpanStartOption) (context.Context, func(error)) {
	inner, span := t.observer.tracer.Start(ctx, valid(in.Type+"/"+in.Method), options...)
	switch {
	case span.IsRecording():
	case span.SpanContext().IsValid():
		return inner, unheard // not chosen, which those below must hear of
	default:
		return ctx, unheard // there is no SDK
	}
	span.SetAttributes(actorFacts(in)...)
	return inner, func(err error) { endActors(span, by, err) }
}

// unheard ends what has not begun.
func unheard(error) {}

// actorFacts tell what is called; of a run also which one it is.
func actorFacts(in *actors.Invocation) []attribute.KeyValue {
	all := append(make([]attribute.KeyValue, 0, 7),
		keyActorType.String(valid(in.Type)), keyActorID.String(valid(in.ID)), keyOperation.String(valid(in.Method)))
	if in.Attempt == 0 {
		return all
	}
	all = append(all, keyActorRequest.String(in.RequestID), keyAttempt.Int(in.Attempt))
	if in.Link > 0 {
		all = append(all, keyActorLink.Int(in.Link))
	}
	if in.FencingToken > 0 { // else it is a query, which is fenced off from nothing
		all = append(all, keyActorEpoch.Int64(int64(min(in.FencingToken, math.MaxInt64)))) //nolint:gosec // it fits
	}
	return all
}

// endActors ends the span of a request or a run.
func endActors(span trace.Span, by attribute.Key, err error) {
	defer span.End()
	e := backstay.Event{Outcome: backstay.Classify(err), Err: err}
	span.SetAttributes(by.String(e.Outcome.Class.String()))
	if failed(&e) {
		fail(span, &e, 0)
	}
}
