package otelmw

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// instruments are those that events move.
type instruments struct {
	calls       metric.Int64Counter
	duration    metric.Float64Histogram
	attempts    metric.Int64Counter
	retries     metric.Int64Counter
	suppressed  metric.Int64Counter
	rejections  metric.Int64Counter
	transitions metric.Int64Counter
	hedges      metric.Int64Counter
	hedgeDelay  metric.Float64Histogram
	fallbacks   metric.Int64Counter
	ignored     metric.Int64Counter
	remaining   metric.Float64Histogram
	reloads     metric.Int64Counter
	timeouts    metric.Int64Counter
	keys        metric.Int64Counter
	actors      actorInstruments
}

// maker makes instruments and collects what goes wrong.
type maker struct {
	meter  metric.Meter
	bounds []float64
	faults error
}

func (m *maker) counter(name, unit, description string) metric.Int64Counter {
	c, err := m.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.faults = errors.Join(m.faults, err)
	return c
}

func (m *maker) seconds(name, description string) metric.Float64Histogram {
	h, err := m.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(m.bounds...))
	m.faults = errors.Join(m.faults, err)
	return h
}

func (m *maker) gauge(name, unit, description string) metric.Int64ObservableGauge {
	g, err := m.meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.faults = errors.Join(m.faults, err)
	return g
}

func (m *maker) amount(name, unit, description string) metric.Float64ObservableGauge {
	g, err := m.meter.Float64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.faults = errors.Join(m.faults, err)
	return g
}

func (m *maker) instruments() instruments {
	return instruments{
		calls:       m.counter("backstay.calls", "{call}", "Calls that have ended, by outcome and by the reason why no more was tried."),
		duration:    m.seconds("backstay.call.duration", "Time from the start of a call to its answer: all attempts, waits and queues."),
		attempts:    m.counter("backstay.attempts", "{attempt}", "Attempts, hedged copies among them, that were sent, by outcome."),
		retries:     m.counter("backstay.retries", "{retry}", "Further attempts that were planned, by what was wrong with the one before."),
		suppressed:  m.counter("backstay.retries.suppressed", "{retry}", "Retryable failures that were not retried, and why."),
		rejections:  m.counter("backstay.rejections", "{rejection}", "Refusals before anything was sent, and why."),
		transitions: m.counter("backstay.breaker.transitions", "{transition}", "Changes of a breaker's state."),
		hedges:      m.counter("backstay.hedges", "{hedge}", "Copies of hedged attempts, the first of each included, by how they ended."),
		hedgeDelay:  m.seconds("backstay.hedge.delay", "Time after which a further copy was sent."),
		fallbacks:   m.counter("backstay.fallbacks", "{fallback}", "Calls that a fallback answered, by rung."),
		ignored:     m.counter("backstay.headers.ignored", "{header}", "Headers of incoming requests that could not be used, by name."),
		remaining:   m.seconds("backstay.deadline.remaining", "Time that was left of the deadline when an attempt was sent."),
		reloads:     m.counter("backstay.policy.reloads", "{reload}", "Versions of a policy file that were loaded or refused, and targets whose new policy could not be applied."),
		timeouts:    m.counter("backstay.server.timeouts", "{handler}", "Handlers that had not begun their answer by their timeout, and were answered for."),
		keys:        m.counter("backstay.idempotency.events", "{event}", "What happened to idempotency keys and their store, beside refusals, by kind."),
		actors:      m.actors(),
	}
}
