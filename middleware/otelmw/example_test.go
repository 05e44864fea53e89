package otelmw_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/otelmw"
	"github.com/backstay-go/backstay/retry"
)

// A call that a retry saves: two attempts, one of which failed, in a call that
// did not.
func ExampleNew() {
	spans := tracetest.NewSpanRecorder()
	observer, err := otelmw.New(otelmw.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer observer.Close()

	target := middleware.Standard("payments")
	target.Retry = &retry.Config{Base: retry.NoWait} // examples do not wait
	payments, err := middleware.New(target, middleware.WithObserver(observer))
	if err != nil {
		fmt.Println(err)
		return
	}
	attempts := 0
	_, _ = middleware.Do(context.Background(), payments, func(context.Context) (string, error) {
		if attempts++; attempts == 1 {
			return "", errors.New("connection reset")
		}
		return "receipt 42", nil
	})
	for _, s := range spans.Ended() {
		fmt.Printf("%v span %q: %v\n", s.SpanKind(), s.Name(), s.Status().Code)
	}
	// Output:
	// client span "attempt payments": Error
	// client span "attempt payments": Unset
	// internal span "call payments": Unset
}

// Gauges tell what every pipeline of a registry looks like when metrics are
// collected.
func ExampleObserver_Watch() {
	reader := sdkmetric.NewManualReader()
	observer, err := otelmw.New(otelmw.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer observer.Close()

	search, err := middleware.New(middleware.Standard("search"), middleware.WithObserver(observer))
	if err != nil {
		fmt.Println(err)
		return
	}
	observer.Watch(otelmw.Of(search)) // a registry, such as transport.Pipelines(), as it is

	var metrics metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &metrics); err != nil {
		fmt.Println(err)
		return
	}
	var names []string
	for _, m := range metrics.ScopeMetrics[0].Metrics {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Println(name)
	}
	// Output:
	// backstay.breaker.state
	// backstay.bulkhead.in_flight
	// backstay.bulkhead.limit
	// backstay.bulkhead.queued
	// backstay.retry.budget.available
}

// roundTripper is a transport that shows what it would send.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// Below the policies, Transport carries the context of each attempt.
func ExampleObserver_Transport() {
	observer, err := otelmw.New(
		otelmw.WithTracerProvider(sdktrace.NewTracerProvider()),
		otelmw.WithPropagator(propagation.TraceContext{}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer observer.Close()
	transport := observer.Transport(roundTripper(func(req *http.Request) (*http.Response, error) {
		fmt.Println("traceparent of", len(req.Header.Get("Traceparent")), "characters")
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}))
	payments, err := middleware.New(middleware.Standard("payments"), middleware.WithObserver(observer))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = middleware.Do(context.Background(), payments, func(ctx context.Context) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://payments.example/", nil)
		if err != nil {
			return nil, err
		}
		return transport.RoundTrip(req)
	})
	// Output: traceparent of 55 characters
}
