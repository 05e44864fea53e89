package retry

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// exact is the bound as the formula reads, for settings that do not overflow.
func exact(base, longest time.Duration, multiplier float64, n int) time.Duration {
	d := float64(base)
	for range n - 1 {
		if d *= multiplier; d >= float64(longest) {
			return longest
		}
	}
	return min(time.Duration(d), longest)
}

// Acceptance case C19.
func TestC19_TheBoundFollowsTheFormulaAtAnyAttempt(t *testing.T) {
	attempts := []int{1, 2, 3, 4, 5, 10, 62, 63, 64, 65, 100, 1000, 9_999, 10_000, 1_000_000}
	for _, base := range []time.Duration{1, time.Microsecond, 100 * time.Millisecond, time.Hour} {
		for _, longest := range []time.Duration{1, 2 * time.Second, time.Hour, math.MaxInt64 - 1, math.MaxInt64} {
			for _, multiplier := range []float64{1, 1.0001, 1.5, 2, 10, 1e9, math.MaxFloat64} {
				for _, n := range attempts {
					got, want := bound(base, longest, multiplier, n), exact(base, longest, multiplier, n)
					// Pow and repeated multiplication round differently.
					if off := math.Abs(float64(got) - float64(want)); off > 1e-9*float64(want)+1 {
						t.Errorf("bound(%v, %v, %v, %d) = %v, want %v", base, longest, multiplier, n, got, want)
					}
				}
			}
		}
	}
}

// Acceptance case C19.
func TestC19_JitterIsUniformFromZeroToTheBound(t *testing.T) {
	tests := map[string]struct {
		longest time.Duration
		random  uint64
		want    time.Duration
	}{
		"the shortest wait is none":              {time.Second, 0, 0},
		"the middle is half the bound":           {time.Second, 1 << 63, 500 * time.Millisecond},
		"the longest wait is the bound":          {time.Second, math.MaxUint64, time.Second},
		"a nanosecond is drawn half of the time": {1, 1 << 63, 1},
		"and is none otherwise":                  {1, 1<<63 - 1, 0},
		"the longest bound does not overflow":    {math.MaxInt64, math.MaxUint64, math.MaxInt64},
		"no bound is no wait":                    {0, math.MaxUint64, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := jitter(test.longest, test.random); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// Acceptance case C19.
func TestC19_TheMeanIsHalfTheBound(t *testing.T) {
	p, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	const draws = 20_000
	for n, longest := range []float64{0.1, 0.2, 0.4, 0.8, 1.6, 2, 2} {
		var sum time.Duration
		for range draws {
			sum += p.Backoff(n+1, rand.Uint64())
		}
		// The standard error is 0.2 % of the bound: 3 % is far outside.
		if mean := sum.Seconds() / draws; math.Abs(mean-longest/2) > 0.03*longest {
			t.Errorf("retry %d waits %.4f s on average, want %.4f", n+1, mean, longest/2)
		}
	}
}

func TestNoWaitIsNone(t *testing.T) {
	p, err := New(Config{Base: NoWait})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2, 1_000_000} {
		if got := p.Backoff(n, math.MaxUint64); got != 0 {
			t.Errorf("retry %d waits %v", n, got)
		}
	}
}

// FuzzBackoff looks for a wait outside [0, cap].
func FuzzBackoff(f *testing.F) {
	f.Add(int64(1), int64(math.MaxInt64), 1e9, 1_000_000, uint64(math.MaxUint64))
	f.Add(int64(time.Hour), int64(math.MaxInt64-1024), 1.0000001, 3, uint64(math.MaxUint64))
	f.Add(int64(100e6), int64(2e9), 2.0, 1, uint64(0))
	f.Fuzz(func(t *testing.T, base, longest int64, multiplier float64, n int, random uint64) {
		c := Config{Base: time.Duration(base), Cap: time.Duration(longest), Multiplier: multiplier}
		p, err := New(c)
		if err != nil || n < 1 {
			return
		}
		if d := p.Backoff(n, random); d < 0 || d > p.config.Cap {
			t.Errorf("%+v: retry %d waits %v", c, n, d)
		}
	})
}
