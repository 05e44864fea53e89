package otelmw

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.39.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/backstay-go/backstay"
)

// Start begins the span of a call, or of one attempt within it, and returns
// the context to go on with, and what ends the span.
func (o *Observer) Start(ctx context.Context, e backstay.Event) (context.Context, func(backstay.Event)) {
	switch e.Kind {
	case backstay.CallStarted:
		return o.startCall(ctx, &e)
	case backstay.AttemptStarted:
		o.remains(ctx, &e)
		if o.attemptSpans {
			return o.startAttempt(ctx, &e)
		}
	default: // what has no span
	}
	return ctx, nothing
}

// nothing ends what has not begun.
func nothing(backstay.Event) {}

// remains measures what an attempt has left of its deadline.
func (o *Observer) remains(ctx context.Context, e *backstay.Event) {
	if !o.remaining.Enabled(ctx) {
		return
	}
	if end, bounded := ctx.Deadline(); bounded {
		left := max(time.Until(end), 0)
		o.remaining.Record(ctx, left.Seconds(), o.seriesOf(e).plain.record...)
	}
}

func (o *Observer) startCall(ctx context.Context, e *backstay.Event) (context.Context, func(backstay.Event)) {
	s := o.seriesOf(e)
	inner, span := o.tracer.Start(ctx, s.call.name, s.call.options...)
	switch {
	case span.IsRecording():
	case span.SpanContext().IsValid():
		return inner, nothing // not chosen, which those below must hear of
	default:
		return ctx, nothing // there is no SDK
	}
	s.tellKey(span, e)
	return inner, func(done backstay.Event) { endCall(span, &done) }
}

// tellKey gives the span the real names where the series has others.
func (s *series) tellKey(span trace.Span, e *backstay.Event) {
	if s.key != e.Key {
		span.SetAttributes(keyKey.String(valid(e.Key)))
	}
	if s.operation != e.Operation {
		span.SetAttributes(keyOperation.String(valid(e.Operation)))
	}
}

// endCall ends the span of a call. It failed if its caller got a failure,
// whatever went wrong on the way.
func endCall(span trace.Span, e *backstay.Event) {
	defer span.End()
	attrs := append(make([]attribute.KeyValue, 0, 8), keyAttempts.Int(e.Attempt))
	if e.Copy > 1 {
		attrs = append(attrs, keyCopy.Int(e.Copy))
	}
	span.SetAttributes(details{
		{keyOutcome, e.Outcome.Class.String()}, {keyReason, string(e.Reason)}, {keyRung, e.Rung},
	}.onto(attrs)...)
	answered := e.Outcome.Class == backstay.Permanent && e.Err == nil // such as a 404, which its caller may want
	if failed(e) && !answered {
		fail(span, e, 0)
	}
}

// failed reports whether e ends something in an error. A caller that left, and
// a copy that lost, is none; a caller whose time was over is one.
func failed(e *backstay.Event) bool {
	switch e.Outcome.Class {
	case backstay.Success:
		return false
	case backstay.Canceled:
		return errors.Is(e.Err, context.DeadlineExceeded)
	default:
		return true
	}
}

// attempt is the span of an attempt, for the [Observer.Transport] below.
type attempt struct {
	span   trace.Span
	taken  atomic.Bool  // by a request, whose span it is from then on
	status atomic.Int32 // of that request's response
}

type attemptKey struct{}

func (o *Observer) startAttempt(ctx context.Context, e *backstay.Event) (context.Context, func(backstay.Event)) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx, nothing // there is no SDK, or the call would have a span
	}
	s := o.seriesOf(e)
	ctx, span := o.tracer.Start(ctx, s.attempt.name, s.attempt.options...)
	if !span.IsRecording() {
		return ctx, nothing
	}
	s.tellKey(span, e)
	if e.Attempt > 1 || e.Copy > 1 {
		span.SetAttributes(numbers(e)...)
	}
	a := &attempt{span: span}
	return context.WithValue(ctx, attemptKey{}, a), func(done backstay.Event) { a.end(&done) }
}

// attemptOutcomes are the attributes of how attempts end, by class.
var attemptOutcomes = func() (all [classes][]attribute.KeyValue) {
	for i := range all {
		all[i] = []attribute.KeyValue{keyAttemptOutcome.String(backstay.Class(i).String())}
	}
	return all
}()

// numbers tell which attempt, and which copy of it, a span is. It begins as the
// first of both.
func numbers(e *backstay.Event) []attribute.KeyValue {
	all := append(make([]attribute.KeyValue, 0, 3), keyAttempt.Int(e.Attempt))
	if e.Attempt > 1 {
		all = append(all, semconv.HTTPRequestResendCount(e.Attempt-1))
	}
	if e.Copy > 1 {
		all = append(all, keyCopy.Int(e.Copy))
	}
	return all
}

// end ends the span of an attempt. The caller's mistake is an error here, as
// it is for HTTP and RPC clients.
func (a *attempt) end(e *backstay.Event) {
	defer a.span.End()
	a.span.SetAttributes(attemptOutcomes[index(e.Outcome.Class)]...)
	if failed(e) {
		fail(a.span, e, int(a.status.Load()))
	}
}

// fail marks a span as failed by the error of e, or by the status of a
// response that came instead of one.
func fail(span trace.Span, e *backstay.Event, status int) {
	switch {
	case e.Err != nil:
		span.SetAttributes(errorType(e.Err))
		span.SetStatus(codes.Error, valid(e.Err.Error()))
	case status != 0:
		span.SetAttributes(semconv.ErrorTypeKey.String(strconv.Itoa(status)))
		span.SetStatus(codes.Error, "") // the status code says it
	default:
		span.SetAttributes(semconv.ErrorTypeKey.String(e.Outcome.Class.String()))
		span.SetStatus(codes.Error, string(e.Reason))
	}
}
