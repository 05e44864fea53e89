package kafka

import (
	"strings"
	"testing"
	"time"
)

// times are those of one round, of one call each.
func times(kafkaOnly, root, direct, read, chain, nested time.Duration) [][]time.Duration {
	return [][]time.Duration{{kafkaOnly}, {(kafkaOnly + root) / 2}, {root}, {direct}, {read}, {chain}, {nested}, {2 * root}, {3 * root}}
}

func TestAHopIsWhatItAddsToTheCallOfItsChain(t *testing.T) {
	const ms = time.Millisecond
	r := summary("x", [][][]time.Duration{times(2*ms, 3*ms, 2*ms, 2*ms, 23*ms, 8*ms)}, [][]float64{{100, 75, 50, 60, 20, 30, 10}})
	if got := r.latencies[hop]; got.p50 != ms || got.ratio != .5 {
		t.Errorf("%+v", got)
	}
	if got := r.rates[nested]; got != (rate{20, .2}) {
		t.Errorf("%+v", got)
	}
}

func TestRatiosAreTakenWithinARound(t *testing.T) {
	const ms = time.Millisecond
	r := summary("x", [][][]time.Duration{
		times(1*ms, 2*ms, 1*ms, 1*ms, 2*ms, 4*ms),
		times(10*ms, 20*ms, 10*ms, 10*ms, 20*ms, 40*ms), // the machine was busy
		times(1*ms, 3*ms, 1*ms, 1*ms, 3*ms, 4*ms),
	}, [][]float64{{100, 75, 50, 60, 20, 30, 10}})
	if got := r.latencies[root]; got.ratio != 2 || got.low != 2 || got.top != 3 || got.p50 != 3*ms {
		t.Errorf("%+v", got)
	}
}

func TestTablesShowWhatWasMeasuredBesideItsTarget(t *testing.T) {
	const µs = time.Microsecond
	r := summary("Kafka, 1 broker", [][][]time.Duration{times(560*µs, 784*µs, 616*µs, 560*µs, 5264*µs, 1680*µs)}, [][]float64{{57123, 40000, 28000, 30000, 900, 20000, 10000}})
	got := tables([]result{r}, "0.10")
	for _, want := range []string{
		"| request and response, Kafka only | 0.56 ms (p99 0.56 ms) |",
		"| the same by hand, its effect on record before the response | **1.20×** 0.67 ms (rounds 1.20–1.20) |",
		"| call, state changes | **1.40×** 0.78 ms (rounds 1.40–1.40), target ≤ 1.4× |",
		"| call, state changes, direct answer | **1.10×** 0.62 ms (rounds 1.10–1.10), target ≤ 1.1× |",
		"| the same, exactly once | **4.20×** 2.35 ms (rounds 4.20–4.20) |",
		"| request and response, Kafka only | 57,123 |",
		"| call with a nested call | **0.02×** 900, target ≥ 0.2× |",
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
