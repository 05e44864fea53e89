package otelmw_test

import (
	"context"
	"errors"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/otelmw"
	"github.com/backstay-go/backstay/retry"
)

var errDown = errors.New("down")

func succeeds(context.Context) (int, error) { return 7, nil }
func fails(context.Context) (int, error)    { return 0, errDown }

// failsFirst returns a function that fails n times and then succeeds.
func failsFirst(n int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) {
		if n--; n >= 0 {
			return 0, errDown
		}
		return 7, nil
	}
}

func observer(tb testing.TB, options ...otelmw.Option) *otelmw.Observer {
	tb.Helper()
	o, err := otelmw.New(options...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := o.Close(); err != nil {
			tb.Error(err)
		}
	})
	return o
}

// lab is an Observer whose metrics and spans stay in memory.
type lab struct {
	*otelmw.Observer

	t       *testing.T
	metrics *sdkmetric.ManualReader
	spans   *tracetest.SpanRecorder
	tracers *sdktrace.TracerProvider
}

func newLab(t *testing.T, options ...otelmw.Option) *lab {
	l := &lab{t: t, metrics: sdkmetric.NewManualReader(), spans: tracetest.NewSpanRecorder()}
	l.tracers = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(l.spans))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(l.metrics))
	l.Observer = observer(t, append([]otelmw.Option{
		otelmw.WithMeterProvider(meters), otelmw.WithTracerProvider(l.tracers),
		otelmw.WithPropagator(propagation.TraceContext{}),
	}, options...)...)
	return l
}

// pipeline returns one of the preset Standard that does not wait between
// attempts, changed by with.
func (l *lab) pipeline(with ...func(*middleware.Target)) *middleware.Pipeline {
	l.t.Helper()
	target := middleware.Standard("payments")
	target.Retry = &retry.Config{Base: retry.NoWait}
	for _, change := range with {
		change(&target)
	}
	p, err := middleware.New(target, middleware.WithObserver(l))
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = p.Close(context.Background()) })
	return p
}

// metric returns what was measured under name; nil if nothing was.
func (l *lab) metric(name string) *metricdata.Metrics {
	l.t.Helper()
	var all metricdata.ResourceMetrics
	if err := l.metrics.Collect(context.Background(), &all); err != nil {
		l.t.Fatal(err)
	}
	for _, scope := range all.ScopeMetrics {
		for i := range scope.Metrics {
			if scope.Metrics[i].Name == name {
				return &scope.Metrics[i]
			}
		}
	}
	return nil
}

// values returns the value of each series of a metric, by its attributes as
// text: how many there were of a counter's or histogram's, the last of a gauge.
func (l *lab) values(name string) map[string]float64 {
	l.t.Helper()
	all := make(map[string]float64)
	m := l.metric(name)
	if m == nil {
		return all
	}
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			all[text(p.Attributes)] = float64(p.Value)
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			all[text(p.Attributes)] = float64(p.Count)
		}
	case metricdata.Gauge[int64]:
		for _, p := range data.DataPoints {
			all[text(p.Attributes)] = float64(p.Value)
		}
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			all[text(p.Attributes)] = p.Value
		}
	default:
		l.t.Fatalf("%s is a %T", name, data)
	}
	return all
}

func text(set attribute.Set) string { return set.Encoded(attribute.DefaultEncoder()) }

// want fails the test unless the series of a metric are exactly these.
func (l *lab) want(name string, want map[string]float64) {
	l.t.Helper()
	got := l.values(name)
	for series, value := range want {
		if v, ok := got[series]; !ok || v != value {
			l.t.Errorf("%s{%s} is %v (there: %v), want %v", name, series, v, ok, value)
		}
	}
	for series, value := range got {
		if _, ok := want[series]; !ok {
			l.t.Errorf("%s{%s} is %v, want no such series", name, series, value)
		}
	}
}

// ended returns the spans that have ended, the call's before its attempts'.
func (l *lab) ended() []sdktrace.ReadOnlySpan {
	all := l.spans.Ended()
	var calls, rest []sdktrace.ReadOnlySpan
	for _, s := range all {
		if s.SpanKind() == trace.SpanKindInternal {
			calls = append(calls, s)
		} else {
			rest = append(rest, s)
		}
	}
	return append(calls, rest...)
}

// attr returns an attribute of a span as text; "" if it has none.
func attr(s sdktrace.ReadOnlySpan, name string) string {
	for _, kv := range s.Attributes() {
		if string(kv.Key) == name {
			return kv.Value.Emit()
		}
	}
	return ""
}
