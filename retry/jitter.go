package retry

import (
	"math"
	"math/bits"
	"time"
)

// Backoff returns the policy's own wait before retry n, from 1: full jitter,
// uniform in [0, min(Cap, Base x Multiplier^(n-1))]. random picks the point, 0
// the shortest wait and math.MaxUint64 the longest.
func (p *Policy) Backoff(n int, random uint64) time.Duration {
	if p == nil {
		return 0
	}
	return jitter(bound(p.config.Base, p.config.Cap, p.config.Multiplier, n), random)
}

// bound is the longest wait before retry n. It is right for any n: a power
// beyond all floating-point numbers is infinite, and so above the cap.
func bound(base, longest time.Duration, multiplier float64, n int) time.Duration {
	if base <= 0 || longest <= 0 {
		return 0 // NoWait
	}
	d := float64(base) * math.Pow(multiplier, float64(n-1))
	if d >= float64(longest) {
		return longest
	}
	return time.Duration(d)
}

// jitter maps random to a duration in [0, longest], all of them equally often.
func jitter(longest time.Duration, random uint64) time.Duration {
	scaled, _ := bits.Mul64(random, uint64(longest)+1)
	return time.Duration(scaled)
}
