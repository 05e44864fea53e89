package otelmw

import (
	"context"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/backstay-go/backstay/actors/inspect"
)

// actorGauges tell what waits in partitions of actors.
type actorGauges struct {
	depth  metric.Int64ObservableGauge
	age    metric.Float64ObservableGauge
	outbox metric.Int64ObservableGauge
}

func (m *maker) actorGauges() actorGauges {
	return actorGauges{
		depth:  m.gauge("backstay.actor.mailbox.depth", "{request}", "Requests that wait in the mailboxes of a partition, or run."),
		age:    m.amount("backstay.actor.mailbox.age", "s", "For how long the oldest of them has waited or run."),
		outbox: m.gauge("backstay.actor.outbox.depth", "{message}", "Messages of a partition that wait to be forwarded."),
	}
}

func (g *actorGauges) all() []metric.Observable { return []metric.Observable{g.depth, g.age, g.outbox} }

// ActorSource is where the gauges of actors read: an actors.Node.
type ActorSource interface {
	Depths(ctx context.Context) []inspect.Depth
}

// WatchActors is [Observer.Watch] for nodes of actors.
func (o *Observer) WatchActors(nodes ...ActorSource) (stop func()) { return o.nodes.add(nodes) }

// nodePatience is how long a node may take to answer: partitions that are busy
// for longer are missing in one reading.
const nodePatience = time.Second

// readActors tells the gauges of actors. Partitions that share the name "other"
// are told together.
func (o *Observer) readActors(ctx context.Context, to metric.Observer) {
	sums := make(map[*series]*inspect.Depth)
	o.nodes.each(func(node ActorSource) {
		ctx, cancel := context.WithTimeout(ctx, nodePatience)
		defer cancel()
		for _, d := range node.Depths(ctx) {
			s := o.cast.of(d.Type, d.Type+"/"+strconv.FormatUint(uint64(d.Index), 10), "")
			if t := sums[s]; t != nil {
				d.Requests, d.Outputs, d.Oldest = d.Requests+t.Requests, d.Outputs+t.Outputs, max(d.Oldest, t.Oldest)
			}
			sums[s] = &d
		}
	})
	for s, d := range sums {
		set := metric.WithAttributes(details{{keyActorType, d.Type}}.onto(s.base)...)
		to.ObserveInt64(o.gauges.actors.depth, int64(d.Requests), set)
		to.ObserveFloat64(o.gauges.actors.age, d.Oldest.Seconds(), set)
		to.ObserveInt64(o.gauges.actors.outbox, int64(d.Outputs), set)
	}
}
