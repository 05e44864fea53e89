package otelmw_test

import (
	"context"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/otelmw"
	"github.com/backstay-go/backstay/timeout"
)

// tell tells o of a call that goes well at the first attempt, as a pipeline
// does.
func tell(ctx context.Context, o *otelmw.Observer) {
	e := backstay.Event{Kind: backstay.CallStarted, Policy: "payments", Key: "payments.example:443"}
	outer, endCall := o.Start(ctx, e)
	e.Kind, e.Attempt, e.Copy = backstay.AttemptStarted, 1, 1
	inner, endAttempt := o.Start(outer, e)
	e.Kind, e.Elapsed = backstay.AttemptDone, 3*time.Millisecond
	o.Observe(inner, e)
	endAttempt(e)
	e.Kind, e.Copy = backstay.CallDone, 0
	o.Observe(outer, e)
	endCall(e)
}

// providers are who may stand behind an Observer.
func providers(tb testing.TB) map[string][]otelmw.Option {
	reader := sdkmetric.NewManualReader()
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	always := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.AlwaysSample()))
	never := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))
	tb.Cleanup(func() {
		_ = meters.Shutdown(context.Background())
		_ = always.Shutdown(context.Background())
		_ = never.Shutdown(context.Background())
	})
	with := func(m metric.MeterProvider, t trace.TracerProvider) []otelmw.Option {
		return []otelmw.Option{otelmw.WithMeterProvider(m), otelmw.WithTracerProvider(t)}
	}
	return map[string][]otelmw.Option{
		"no-op":                   with(metricnoop.NewMeterProvider(), tracenoop.NewTracerProvider()),
		"global, unset":           with(otel.GetMeterProvider(), otel.GetTracerProvider()),
		"metrics":                 with(meters, tracenoop.NewTracerProvider()),
		"metrics, no span chosen": with(meters, never),
		"metrics and spans":       with(meters, always),
	}
}

// BenchmarkEvents is what the events of a successful call cost.
func BenchmarkEvents(b *testing.B) {
	near, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	for name, options := range providers(b) {
		o := observer(b, options...)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tell(near, o)
			}
		})
	}
}

// BenchmarkDo is a call through the preset Standard, with nobody listening, and
// with an Observer.
func BenchmarkDo(b *testing.B) {
	near, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	target := middleware.Standard("payments")
	target.Deadline = &deadline.Config{Total: 24 * time.Hour}
	target.Timeout = &timeout.Config{After: 12 * time.Hour}
	bench := func(name string, options ...middleware.Option) {
		p, err := middleware.New(target, options...)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = middleware.Do(near, p, succeeds)
			}
		})
	}
	bench("off")
	bench("told in vain", middleware.WithObserver(backstay.ObserverFunc(func(context.Context, backstay.Event) {})))
	for name, options := range providers(b) {
		bench(name, middleware.WithObserver(observer(b, options...)))
	}
}

// What is allocated without an SDK is what its stand-in makes for one span.
func TestWithoutAnSDKACallCostsOneContext(t *testing.T) {
	o := observer(t, providers(t)["no-op"]...)
	ctx := context.Background()
	testkit.Allocs(t, 1, func() { tell(ctx, o) })
}

func TestMeasuringAllocatesNothing(t *testing.T) {
	o := observer(t, providers(t)["metrics"]...)
	ctx := context.Background()
	testkit.Allocs(t, 0, func() {
		o.Observe(ctx, backstay.Event{Kind: backstay.CallDone, Policy: "payments", Key: "host", Elapsed: time.Second})
		o.Observe(ctx, backstay.Event{Kind: backstay.AttemptDone, Policy: "payments", Key: "host", Attempt: 1})
		o.Observe(ctx, backstay.Event{Kind: backstay.CallRejected, Policy: "payments", Key: "host", Reason: backstay.ReasonBreakerOpen})
	})
}

// Keys beyond the limit share a series, and none of them waits for a lock.
func TestAKeyBeyondTheLimitAllocatesNothing(t *testing.T) {
	o := observer(t, append(providers(t)["metrics"], otelmw.WithMaxNames(1))...)
	ctx := context.Background()
	o.Observe(ctx, backstay.Event{Kind: backstay.AttemptDone, Policy: "payments", Key: "first"})
	testkit.Allocs(t, 0, func() {
		o.Observe(ctx, backstay.Event{Kind: backstay.AttemptDone, Policy: "payments", Key: "second"})
	})
}
