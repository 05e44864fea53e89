package chaos

import (
	"math"
	"time"

	"github.com/backstay-go/backstay/middleware"
)

// Draw returns the latency that l has at u, a random number from 0 up to but
// not including 1. It is the inverse of l's distribution function, cut off at
// its bounds: greater numbers mean longer latencies.
func Draw(l middleware.Latency, u float64) time.Duration {
	shortest, longest := l.Bounds()
	low, high, mean := float64(shortest), float64(longest), float64(l.Mean)
	var x float64
	switch l.Distribution {
	case middleware.LatencyUniform:
		x = low + u*(high-low)
	case middleware.LatencyNormal:
		x = normal(mean, float64(l.Deviation), low, high, u)
	case middleware.LatencyExponential:
		x = exponential(mean, low, high, u)
	default:
		return l.Mean
	}
	if !(x > low) { // NaN, too
		return shortest
	}
	return time.Duration(min(x, high))
}

func normal(mean, deviation, low, high, u float64) float64 {
	below := func(x float64) float64 { return math.Erfc((mean-x)/(deviation*math.Sqrt2)) / 2 }
	p := below(low) + u*(below(high)-below(low))
	return mean + deviation*math.Sqrt2*math.Erfinv(2*p-1)
}

func exponential(mean, low, high, u float64) float64 {
	above := func(x float64) float64 { return math.Exp(-x / mean) }
	return -mean * math.Log(above(low)-u*(above(low)-above(high)))
}
