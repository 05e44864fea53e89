package hedge

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"
)

func measured(c Config) (*latencies, *scale) {
	s := newScale(c.withDefaults())
	return newLatencies(s), &s
}

func TestEveryDurationHasABucketWithin4Percent(t *testing.T) {
	for d := time.Duration(1); d > 0 && d <= maxDuration; d += d/97 + 1 {
		if got := middle(code(d)); math.Abs(float64(got-d)) > 0.032*float64(d)+1 {
			t.Fatalf("%v is taken for %v", d, got)
		}
	}
}

func TestCodesGrowWithDurations(t *testing.T) {
	last := -1
	for d := time.Duration(1); d <= maxDuration; d += d/31 + 1 {
		if c := code(d); c < last {
			t.Fatalf("code of %v is %d after %d", d, c, last)
		} else {
			last = c
		}
	}
}

func TestThePercentileIsWithin5PercentOfTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	shapes := map[string]func() time.Duration{
		"uniform": func() time.Duration {
			return 6*time.Millisecond + time.Duration(rng.Int64N(int64(500*time.Millisecond)))
		},
		"exponential": func() time.Duration { return time.Duration(rng.ExpFloat64() * float64(40*time.Millisecond)) },
		"log-normal":  func() time.Duration { return time.Duration(math.Exp(rng.NormFloat64()) * float64(20*time.Millisecond)) },
		"two humps": func() time.Duration {
			if rng.IntN(10) == 0 {
				return 300 * time.Millisecond
			}
			return 10 * time.Millisecond
		},
		"constant": func() time.Duration { return 77 * time.Millisecond },
	}
	for name, draw := range shapes {
		for _, percentile := range []float64{0.5, 0.9, 0.95, 0.99} {
			l, s := measured(Config{Percentile: percentile})
			var all []time.Duration
			for range 500 { // less than a generation: nothing is forgotten yet
				d := draw()
				all = append(all, d)
				l.add(s, d)
			}
			slices.Sort(all)
			want := all[int(math.Ceil(percentile*500))-1]
			got := l.measure(s)
			if want = max(want, s.floor); math.Abs(float64(got-want)) > 0.05*float64(want) {
				t.Errorf("%s p%v: got %v, want %v", name, percentile*100, got, want)
			}
		}
	}
}

func TestThePercentileWaitsForEnoughSamples(t *testing.T) {
	l, s := measured(Config{MinSamples: 3})
	for i, want := range []bool{false, false, true} {
		l.add(s, 30*time.Millisecond)
		if got := l.percentile() > 0; got != want {
			t.Errorf("after %d samples: %t", i+1, got)
		}
	}
}

func TestASlowBackendReachesTheCeilingExactly(t *testing.T) {
	l, s := measured(Config{MinSamples: 1})
	l.add(s, time.Hour)
	if got := l.percentile(); got != s.ceiling {
		t.Errorf("got %v, want %v", got, s.ceiling)
	}
	l, s = measured(Config{MinSamples: 1})
	l.add(s, s.ceiling-1)
	if got := l.percentile(); got >= s.ceiling {
		t.Errorf("got %v below the ceiling", got)
	}
}

func TestOldSuccessesAreForgotten(t *testing.T) {
	l, s := measured(Config{})
	for range 5_000 {
		l.add(s, 500*time.Millisecond)
	}
	for range 2 * s.span {
		l.add(s, 10*time.Millisecond)
	}
	if got := l.measure(s); got > 11*time.Millisecond {
		t.Errorf("still %v after %d quick ones", got, 2*s.span)
	}
}

func TestAHundredthSlowestNeedsALongerMemory(t *testing.T) {
	if s := newScale(Config{Percentile: 0.99}.withDefaults()); s.span != 2000 {
		t.Errorf("a generation of %d", s.span)
	}
	if s := newScale(Config{Percentile: math.Nextafter(1, 0)}.withDefaults()); s.span > maxSamples {
		t.Errorf("a generation of %d", s.span)
	}
}

func TestAKeyTakesAHundredBytesAndAKilobyteOnceMeasured(t *testing.T) {
	if got := unsafe.Sizeof(Policy{}); got > 100 {
		t.Errorf("a policy takes %d bytes", got)
	}
	l, _ := measured(Config{})
	if got := unsafe.Sizeof(*l) + uintptr(len(l.buckets))*unsafe.Sizeof(l.buckets[0]); got > 1100 {
		t.Errorf("its latencies take %d bytes", got)
	}
}

func TestManyGoroutinesMayAdd(t *testing.T) {
	l, s := measured(Config{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 3_000 {
				l.add(s, 50*time.Millisecond)
				if d := l.percentile(); d != 0 && math.Abs(float64(d-50*time.Millisecond)) > 0.05*float64(d) {
					t.Errorf("got %v", d)
				}
			}
		})
	}
	wg.Wait()
}
