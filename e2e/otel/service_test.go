package otel_test

import (
	"context"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/backstay-go/backstay/middleware/otelmw"
)

var carrier = propagation.TraceContext{}

// service is what one program sets up to be seen: the SDK with exporters to the
// collector.
type service struct {
	tracers *sdktrace.TracerProvider
	meters  *sdkmetric.MeterProvider
}

func newService(t *testing.T, c *collector, name string) *service {
	t.Helper()
	host := strings.TrimPrefix(c.server.URL, "http://")
	spans, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpoint(host), otlptracehttp.WithInsecure(),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
	if err != nil {
		t.Fatal(err)
	}
	points, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpoint(host), otlpmetrichttp.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	self := resource.NewSchemaless(attribute.String("service.name", name))
	s := &service{
		tracers: sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans), sdktrace.WithResource(self)),
		meters:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(points)), sdkmetric.WithResource(self)),
	}
	t.Cleanup(func() {
		_ = s.tracers.Shutdown(context.Background())
		_ = s.meters.Shutdown(context.Background())
	})
	return s
}

// observer returns an Observer of the service.
func (s *service) observer(t *testing.T, options ...otelmw.Option) *otelmw.Observer {
	t.Helper()
	o, err := otelmw.New(append([]otelmw.Option{
		otelmw.WithTracerProvider(s.tracers), otelmw.WithMeterProvider(s.meters), otelmw.WithPropagator(carrier),
	}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	return o
}

// flush sends what has not been sent.
func (s *service) flush(t *testing.T) {
	t.Helper()
	if err := s.tracers.ForceFlush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.meters.ForceFlush(t.Context()); err != nil {
		t.Fatal(err)
	}
}
