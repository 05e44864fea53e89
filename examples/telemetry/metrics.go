package main

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/backstay-go/backstay/middleware/otelmw"
)

// measure sets up the metrics: an Observer, whose measurements the SDK adds up
// until Prometheus comes for them.
func (p *program) measure() error {
	registry := prometheus.NewRegistry()
	exporter, err := otelprom.New(otelprom.WithRegisterer(registry), otelprom.WithoutScopeInfo(), otelprom.WithoutTargetInfo())
	if err != nil {
		return err
	}
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter))
	p.later(func() error { return meters.Shutdown(context.Background()) })
	p.observer, err = otelmw.New(otelmw.WithMeterProvider(meters))
	if err != nil {
		return err
	}
	p.later(p.observer.Close)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	p.metrics = &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	return nil
}

// serve answers Prometheus at addr.
func (p *program) serve(ctx context.Context, addr string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	p.metrics.Addr = listener.Addr().String()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = p.metrics.Serve(listener)
	}()
	p.later(func() error {
		err := p.metrics.Close()
		<-done
		return err
	})
	return nil
}

func (p *program) metricsURL() string { return "http://" + p.metrics.Addr + "/metrics" }
