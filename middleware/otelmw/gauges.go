package otelmw

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/backstay-go/backstay/middleware"
)

// gauges are the instruments that are read when metrics are collected.
type gauges struct {
	budget                  metric.Float64ObservableGauge
	state                   metric.Int64ObservableGauge
	limit, inFlight, queued metric.Int64ObservableGauge
	actors                  actorGauges
}

func (m *maker) gauges() gauges {
	return gauges{
		budget:   m.amount("backstay.retry.budget.available", "{retry}", "Retries that can be paid for now."),
		state:    m.gauge("backstay.breaker.state", "{breaker}", "1 for the state that a breaker is in, 0 for the others."),
		limit:    m.gauge("backstay.bulkhead.limit", "{permit}", "Permits that may be given out at once."),
		inFlight: m.gauge("backstay.bulkhead.in_flight", "{permit}", "Permits that are given out."),
		queued:   m.gauge("backstay.bulkhead.queued", "{call}", "Calls that wait for a permit."),
		actors:   m.actorGauges(),
	}
}

func (g *gauges) all() []metric.Observable {
	return append(g.actors.all(), g.budget, g.state, g.limit, g.inFlight, g.queued)
}

// read tells the gauges. Pipelines of one name, and those whose keys share the
// name "other", are told together.
func (o *Observer) read(ctx context.Context, to metric.Observer) error {
	sums := make(map[*series]*sum)
	o.watched.each(func(source Source) {
		for _, status := range source.Statuses() {
			s := o.cast.of(status.Name, status.Key, "")
			if sums[s] == nil {
				sums[s] = new(sum)
			}
			sums[s].add(&status)
		}
	})
	o.readActors(ctx, to)
	for s, together := range sums {
		together.tell(&o.gauges, s.base, to)
	}
	return nil
}

// sum is the state of the pipelines that share a series.
type sum struct {
	budget                                       float64 // the least
	limit, inFlight, queued                      int64
	hasBudget, hasBreaker, hasBulkhead, hasLimit bool
	in                                           [len(states)]bool // whether any breaker is in that state
}

func (t *sum) add(s *middleware.Status) {
	if b := s.Budget; b != nil {
		if !t.hasBudget || b.Available < t.budget {
			t.budget = b.Available
		}
		t.hasBudget = true
	}
	if b := s.Breaker; b != nil {
		t.hasBreaker = true
		if i := slices.Index(states[:], b.State); i >= 0 {
			t.in[i] = true
		}
	}
	if b := s.Bulkhead; b != nil {
		t.hasBulkhead = true
		t.inFlight += b.InFlight
		t.queued += b.Queued
		if b.Limit >= 0 { // there is one
			t.hasLimit = true
			t.limit += b.Limit
		}
	}
}

func (t *sum) tell(g *gauges, base []attribute.KeyValue, to metric.Observer) {
	set := metric.WithAttributeSet(attribute.NewSet(slices.Clone(base)...))
	if t.hasBudget {
		to.ObserveFloat64(g.budget, t.budget, set)
	}
	if t.hasBulkhead {
		to.ObserveInt64(g.inFlight, t.inFlight, set)
		to.ObserveInt64(g.queued, t.queued, set)
	}
	if t.hasLimit {
		to.ObserveInt64(g.limit, t.limit, set)
	}
	if !t.hasBreaker {
		return
	}
	for i, name := range states {
		to.ObserveInt64(g.state, one(t.in[i]), metric.WithAttributes(details{{keyState, name}}.onto(base)...))
	}
}

// one is 1 for true.
func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
