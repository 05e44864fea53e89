package kafka

import (
	"slices"
	"testing"
	"time"
)

// The operations that are timed one after another, in the order of a result.
const (
	kafkaOnly = iota
	recorded  // by hand: the least that root can be
	root
	direct // root, with the answer over a connection
	read
	hop
	nested
	told        // a call that publishes a message, until that is read
	toldExactly // the same, exactly once
	timed
)

// flooded are the operations whose calls a second are measured.
var flooded = []int{kafkaOnly, recorded, root, direct, nested, told, toldExactly}

// result is what was measured on one cluster.
type result struct {
	title     string
	latencies [timed]latency
	rates     [timed]rate // those of flooded
}

// latency is the median of the rounds.
type latency struct {
	p50, p99 time.Duration
	ratio    float64 // of p50 to that of Kafka only
	low, top float64 // ratios of the rounds
}

// rate is the median of the rounds, in calls a second.
type rate struct{ second, ratio float64 }

// summary takes the medians.
func summary(title string, times [][][]time.Duration, rates [][]float64) result {
	r := result{title: title}
	for at := range r.latencies {
		r.latencies[at] = overRounds(times, at)
	}
	for i, at := range flooded {
		var seconds, ratios []float64
		for _, round := range rates {
			seconds, ratios = append(seconds, round[i]), append(ratios, round[i]/round[0])
		}
		r.rates[at] = rate{median(seconds), median(ratios)}
	}
	return r
}

func overRounds(times [][][]time.Duration, at int) latency {
	var p50s, p99s, ratios []float64
	for _, round := range times {
		p50, p99 := percentile(round[at], 50), percentile(round[at], 99)
		if at == hop { // a chain is a root call and its hops
			p50 = (p50 - percentile(round[root], 50)) / hops
			p99 = (p99 - percentile(round[root], 50)) / hops
		}
		p50s, p99s = append(p50s, float64(p50)), append(p99s, float64(p99))
		ratios = append(ratios, float64(p50)/float64(percentile(round[kafkaOnly], 50)))
	}
	return latency{
		p50: time.Duration(median(p50s)), p99: time.Duration(median(p99s)),
		ratio: median(ratios), low: slices.Min(ratios), top: slices.Max(ratios),
	}
}

// report tells the benchmark's own output.
func (r *result) report(b *testing.B) {
	b.Helper()
	b.ReportMetric(float64(r.latencies[kafkaOnly].p50.Microseconds()), "kafka-µs")
	for at, unit := range map[int]string{recorded: "recorded", root: "root", direct: "direct", read: "read", hop: "hop", nested: "nested", told: "told", toldExactly: "told-exactly"} {
		b.ReportMetric(r.latencies[at].ratio, unit+"-ratio")
	}
	b.ReportMetric(r.rates[kafkaOnly].second, "kafka/s")
	b.ReportMetric(r.rates[root].second, "root/s")
	b.ReportMetric(r.rates[nested].second, "nested/s")
	b.ReportMetric(r.rates[told].second, "told/s")
	b.ReportMetric(r.rates[toldExactly].second, "told-exactly/s")
}
