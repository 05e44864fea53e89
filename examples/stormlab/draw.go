package main

import (
	"math"
	"strings"
	"time"
)

// draw returns the figures of the studies, by the names of their files.
func (l *lab) draw() map[string]string {
	return map[string]string{
		"storm-jitter.svg":   l.drawJitter().svg(),
		"storm-layers.svg":   l.drawLayers().svg(),
		"storm-hedging.svg":  l.drawHedging().svg(),
		"storm-recovery.svg": l.drawRecovery().svg(),
	}
}

func (l *lab) drawJitter() figure {
	crowd := axis{label: "clients that contend", high: 200}
	calls := panel{x: crowd, y: axis{label: "calls in all", high: 12_000}}
	done := panel{x: crowd, y: axis{label: "until the last has won (logarithmic)", low: 0.1, high: 200, log: true, unit: "s"}}
	for i, s := range spreads {
		work := line{name: s.name, color: i, thin: s.name == "equal"} // which full would hide
		span := work
		for j, c := range l.jitter[s.name] {
			x := float64(crowds[j])
			work.points = append(work.points, point{x: x, y: c.calls})
			span.points = append(span.points, point{x: x, y: c.done.Seconds()})
		}
		calls.lines, done.lines = append(calls.lines, work), append(done.lines, span)
	}
	return figure{
		title:  "Jitter: clients that wait for the same time meet again",
		about:  "Each reads a version and writes if it is still the same; who loses waits up to 5ms x 2^n, at most 2s.",
		panels: []panel{calls, done},
	}
}

func (l *lab) drawLayers() figure {
	n := panel{
		x: axis{label: "layers that retry, three attempts each", low: 0.7, high: deepest + 0.3},
		y: axis{label: "attempts at the last service for one call of a user (logarithmic)", low: 1, high: 300, log: true, unit: "x"},
	}
	for i, m := range manners {
		drawn := line{name: m.name, color: []int{0, 1, 3}[i], dots: true, before: i == 0}
		for depth, reached := range l.layers[m.name] {
			at := point{x: float64(depth + 1), y: float64(reached) / userCalls}
			if depth > 0 || i == len(manners)-1 {
				at.label = times(reached)
			}
			drawn.points = append(drawn.points, at)
		}
		n.lines = append(n.lines, drawn)
	}
	return figure{
		title:  "Amplification: what retries in every layer do",
		about:  "Every service tries three times; the last one is down.",
		panels: []panel{n},
	}
}

func (l *lab) drawHedging() figure {
	n := panel{
		x: axis{label: "copies for a hundred calls", high: 108},
		y: axis{label: "latency of the slowest calls", high: 260, unit: "ms"},
	}
	free := line{name: "p99.9, by when the copy is sent", color: 2, dots: true}
	less := line{name: "p99", color: 2, thin: true}
	bounded := line{name: "p99.9 with a budget of 5%", color: 1, bare: true}
	for _, t := range l.hedging {
		at := point{x: 100 * t.extra, y: float64(t.p999) / float64(time.Millisecond), label: t.name}
		if t.bounded {
			at.label = strings.Replace(at.label, ", budget", "", 1)
			bounded.points = append(bounded.points, at)
			continue
		}
		at.under = t.extra > 0 // beside the axis there is no room
		free.points = append(free.points, at)
		less.points = append(less.points, point{x: at.x, y: float64(t.p99) / float64(time.Millisecond)})
	}
	n.lines = []line{free, less, bounded}
	return figure{
		title:  "Hedging: what a shorter tail costs",
		about:  "40 replicas, 40% busy, 10ms a request; one request in 500 takes 200ms.",
		panels: []panel{n},
	}
}

func (l *lab) drawRecovery() figure {
	begin, end := calm.Seconds(), (calm + outages[drawn]).Seconds()
	n := panel{
		x:     axis{label: "time", high: 240, unit: "s"},
		y:     axis{label: "calls that are answered", high: 104, unit: "%"},
		shade: [2]float64{begin, end}, shaded: "the server hangs",
	}
	for i, s := range shields {
		curve := line{name: s.name, color: i, thin: s.breaker && s.budget}
		for second, share := range smooth(l.recovery[s.name].good, 1) {
			if float64(second) <= n.x.high {
				curve.points = append(curve.points, point{x: float64(second), y: 100 * share})
			}
		}
		n.lines = append(n.lines, curve)
	}
	return figure{
		title:  "Recovery: what keeps a server down after its outage",
		about:  "100 calls a second, room for 130; callers wait 1s and try three times.",
		panels: []panel{n},
	}
}

// smooth returns the means of so many values before and after.
func smooth(values []float64, around int) []float64 {
	all := make([]float64, len(values))
	for i := range values {
		near := values[max(i-around, 0):min(i+around+1, len(values))]
		sum := 0.0
		for _, v := range near {
			sum += v
		}
		all[i] = math.Round(1000*sum/float64(len(near))) / 1000
	}
	return all
}
