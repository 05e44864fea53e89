package otelmw

import (
	"fmt"
	"math"
	"slices"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/backstay-go/backstay"
)

// DefaultMaxNames is how many keys, and how many operations, a policy has in
// the metrics.
const DefaultMaxNames = 100

// DefaultBuckets are the bounds, in seconds, of the histograms' buckets.
var DefaultBuckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// Option changes what an [Observer] does.
type Option func(*settings)

type settings struct {
	meters       metric.MeterProvider
	tracers      trace.TracerProvider
	propagator   propagation.TextMapPropagator
	maxNames     int
	buckets      []float64
	attemptSpans bool
}

// WithMeterProvider says where the metrics go. The default is the global
// provider, also one that is set later.
func WithMeterProvider(p metric.MeterProvider) Option { return func(s *settings) { s.meters = p } }

// WithTracerProvider says where the spans go. The default is the global
// provider, also one that is set later.
func WithTracerProvider(p trace.TracerProvider) Option { return func(s *settings) { s.tracers = p } }

// WithPropagator says how a request carries its span's context. The default is
// the global propagator, also one that is set later. (Until a program sets it,
// that carries nothing.)
func WithPropagator(p propagation.TextMapPropagator) Option {
	return func(s *settings) { s.propagator = p }
}

// WithMaxNames bounds how many keys, and how many operations, each policy has
// in the metrics: those that come first keep their names for the Observer's
// life, all others share the name "other". 0 means [DefaultMaxNames]. Spans
// tell the real names.
func WithMaxNames(n int) Option { return func(s *settings) { s.maxNames = n } }

// WithBuckets sets the bounds, in seconds and rising, of the histograms'
// buckets, in place of [DefaultBuckets]. A view of the SDK overrules it.
func WithBuckets(seconds ...float64) Option { return func(s *settings) { s.buckets = seconds } }

// WithoutAttemptSpans leaves the spans of attempts to an instrument below, such
// as otelhttp or otelgrpc, whose spans are then children of the call's.
func WithoutAttemptSpans() Option { return func(s *settings) { s.attemptSpans = false } }

// settle applies the options, or returns every fault in them.
func settle(options []Option) (settings, error) {
	s := settings{buckets: DefaultBuckets, attemptSpans: true}
	for _, option := range options {
		option(&s)
	}
	if s.meters == nil {
		s.meters = otel.GetMeterProvider()
	}
	if s.tracers == nil {
		s.tracers = otel.GetTracerProvider()
	}
	if s.propagator == nil {
		s.propagator = otel.GetTextMapPropagator()
	}
	if s.maxNames == 0 {
		s.maxNames = DefaultMaxNames
	}
	return s, s.validate()
}

func (s *settings) validate() error {
	return backstay.Check(
		backstay.Setting{
			Path: "max_names", Value: s.maxNames, Valid: s.maxNames > 0,
			Allowed: fmt.Sprintf("must not be negative; 0 means %d", DefaultMaxNames),
		},
		backstay.Setting{
			Path: "buckets", Value: s.buckets, Valid: rising(s.buckets),
			Allowed: "must be at least one bound, in seconds, finite and rising",
		},
	)
}

// rising reports whether bounds can be those of a histogram.
func rising(bounds []float64) bool {
	for i, b := range bounds {
		if math.IsNaN(b) || math.IsInf(b, 0) || i > 0 && b <= bounds[i-1] {
			return false
		}
	}
	return len(bounds) > 0
}

// bounds returns a copy that the caller of WithBuckets cannot change.
func (s *settings) bounds() []float64 { return slices.Clone(s.buckets) }
