package chaos_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/chaos"
)

const ms = time.Millisecond

func TestADrawnLatencyIsWithinItsBounds(t *testing.T) {
	lengths := rapid.SampledFrom([]time.Duration{0, 1, 2, ms, time.Second, time.Hour - 1, time.Hour})
	drawn := 0
	rapid.Check(t, func(rt *rapid.T) {
		l := middleware.Latency{
			Distribution: rapid.SampledFrom([]string{"", "fixed", "uniform", "normal", "exponential"}).Draw(rt, "distribution"),
			Mean:         lengths.Draw(rt, "mean"), Deviation: lengths.Draw(rt, "deviation"),
			Min: lengths.Draw(rt, "min"), Max: lengths.Draw(rt, "max"),
		}
		f := middleware.Fault{Name: "x", Kind: middleware.FaultLatency, Share: 1, Latency: l}
		if f.Validate() != nil {
			return
		}
		drawn++
		shortest, longest := l.Bounds()
		u := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1, math.Nextafter(1, 0), math.NaN(), 5e-324})).Draw(rt, "u")
		if got := chaos.Draw(l, u); got < shortest || got > longest {
			rt.Fatalf("%+v at %v: %v, want %v to %v", l, u, got, shortest, longest)
		}
	})
	if drawn == 0 {
		t.Error("no latency was valid")
	}
}

func TestALatencyGrowsWithItsNumber(t *testing.T) {
	for name, l := range distributions() {
		last := time.Duration(-1)
		for u := 0.0; u < 1; u += 1.0 / 1024 {
			d := chaos.Draw(l, u)
			if d < last {
				t.Fatalf("%s at %v: %v after %v", name, u, d, last)
			}
			last = d
		}
	}
}

func distributions() map[string]middleware.Latency {
	return map[string]middleware.Latency{
		"fixed":       {Mean: 300 * ms},
		"uniform":     {Distribution: "uniform", Min: 200 * ms, Max: 400 * ms},
		"normal":      {Distribution: "normal", Mean: 300 * ms, Deviation: 50 * ms},
		"exponential": {Distribution: "exponential", Mean: 300 * ms, Max: time.Hour},
	}
}

func TestTheMomentsOfADistribution(t *testing.T) {
	const n = 50_000
	deviation := map[string]float64{"fixed": 0, "uniform": 200 / math.Sqrt(12), "normal": 50, "exponential": 300}
	for name, l := range distributions() {
		lot := rand.New(rand.NewPCG(3, 4))
		var sum, squares float64
		for range n {
			x := float64(chaos.Draw(l, lot.Float64())) / float64(ms)
			sum += x
			squares += x * x
		}
		mean := sum / n
		spread := math.Sqrt(max(0, squares/n-mean*mean))
		if math.Abs(mean-300) > 5 || math.Abs(spread-deviation[name]) > 5 {
			t.Errorf("%s: mean %.1f, deviation %.1f, want 300 and %.1f", name, mean, spread, deviation[name])
		}
	}
}

// A clamp would put a tenth of all latencies on the bound itself.
func TestWhatIsBeyondABoundIsCutOffAndNotMoved(t *testing.T) {
	for _, l := range []middleware.Latency{
		{Distribution: "normal", Mean: 300 * ms, Deviation: 200 * ms, Min: 100 * ms, Max: 400 * ms},
		{Distribution: "exponential", Mean: 300 * ms, Min: 100 * ms, Max: 400 * ms},
	} {
		lot := rand.New(rand.NewPCG(5, 6))
		atBounds := 0
		for range 10_000 {
			if d := chaos.Draw(l, lot.Float64()); d < 101*ms || d > 399*ms {
				atBounds++
			}
		}
		if atBounds > 150 {
			t.Errorf("%s: %d of 10,000 at the bounds", l.Distribution, atBounds)
		}
	}
}
