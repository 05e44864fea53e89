package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/console"
	"github.com/backstay-go/backstay/middleware/otelmw"
)

// sight is what operators see of the shop: a console, metrics, and the counts
// that are printed at the end.
type sight struct {
	backstay.Observer // all of them: for everything that has policies

	page    *console.Console
	metrics *otelmw.Observer
	tally   tally

	meters   *sdkmetric.MeterProvider
	registry *prometheus.Registry
}

func newSight() (*sight, error) {
	s := &sight{registry: prometheus.NewRegistry()}
	exporter, err := otelprom.New(otelprom.WithRegisterer(s.registry), otelprom.WithoutScopeInfo())
	if err != nil {
		return nil, err
	}
	s.meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter))
	s.metrics, err = otelmw.New(otelmw.WithMeterProvider(s.meters))
	if err != nil {
		return nil, err
	}
	// Whoever may open the console may act there: it is on loopback only.
	s.page, err = console.New(console.Config{Title: "Shop"},
		console.WithActions(func(*http.Request) bool { return true }), console.WithErrors(error.Error))
	if err != nil {
		return nil, err
	}
	s.Observer = backstay.Observers(s.page.Observer(), s.metrics, &s.tally)
	return s, nil
}

// watch shows the state of what calls the service called name.
func (s *sight) watch(name string, pipelines *middleware.Registry) error {
	s.metrics.Watch(pipelines)
	return s.page.Add(name, pipelines)
}

// routes are what operators ask for.
func (s *sight) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{}))
	mux.Handle("/console/", s.page)
	return onLoopback(mux)
}

// onLoopback refuses requests that name another host: a page elsewhere may have
// its own name resolve to 127.0.0.1.
func onLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		host, _, err := net.SplitHostPort(req.Host)
		if err != nil {
			host = req.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, fmt.Sprintf("%s is not this machine", host), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, req)
	})
}

func (s *sight) close(ctx context.Context) error {
	return errors.Join(s.page.Close(ctx), s.metrics.Close(), s.meters.Shutdown(ctx))
}
