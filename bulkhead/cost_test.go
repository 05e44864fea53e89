package bulkhead_test

import (
	"context"
	"math"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/internal/testkit"
)

func TestACallThatIsAdmittedAllocatesNothing(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			limit := 0.0
			if kind.config.HoldBody {
				limit = 2 // the function that gives the permit back
			}
			b := must(bulkhead.New(kind.config))
			ctx := t.Context()
			n := 0
			testkit.Allocs(t, limit, func() {
				got, err := bulkhead.Do(ctx, b, func(context.Context) (int, error) { n++; return n, nil })
				if got != n || err != nil {
					t.Error(got, err)
				}
			})
			testkit.Allocs(t, 0, func() {
				permit, err := b.Acquire(ctx, 1)
				if err != nil {
					t.Error(err)
				}
				permit.Release(backstay.Outcome{})
			})
		})
	}
}

func TestARefusalAllocatesItsErrorOnly(t *testing.T) {
	b := must(bulkhead.New(bulkhead.Config{Limit: 1}))
	acquire(t, b)
	ctx := t.Context()
	testkit.Allocs(t, 1, func() { _, _ = b.Acquire(ctx, 1) })
	testkit.Allocs(t, 0, func() { b.TryAcquire(ctx, 1) })
}

func TestAPermitCostsAtMost30PercentMoreThanABareSemaphore(t *testing.T) {
	if testkit.Race || testing.CoverMode() != "" || testing.Short() {
		t.Skip("it measures time")
	}
	bare := semaphore.NewWeighted(64)
	ctx := t.Context()
	permits := func(c bulkhead.Config) func(int) {
		b := must(bulkhead.New(c))
		return func(n int) {
			for range n {
				permit, _ := b.TryAcquire(ctx, 1)
				permit.Release(backstay.Outcome{})
			}
		}
	}
	ofBare := func(n int) {
		for range n {
			bare.TryAcquire(1)
			bare.Release(1)
		}
	}
	loops := []func(int){ofBare, permits(bulkhead.Config{}), permits(bulkhead.Config{MaxQueue: 8})}
	var got []float64
	for range 20 { // until the machine has a quiet moment
		if got = measure(loops...); got[1] <= 1.3*got[0] && got[2] <= 1.3*got[0] {
			t.Logf("ns: semaphore %.1f, bulkhead %.1f, with a queue %.1f", got[0], got[1], got[2])
			return
		}
	}
	t.Errorf("ns: semaphore %.1f, bulkhead %.1f, with a queue %.1f", got[0], got[1], got[2])
}

// measure returns what one run of each loop takes, in nanoseconds: the best of
// many short rounds taken in turn, so that a busy machine does not count.
func measure(loops ...func(n int)) []float64 {
	const rounds, n = 500, 1000
	best := make([]float64, len(loops))
	for i := range best {
		best[i] = math.Inf(1)
	}
	for range rounds {
		for i, loop := range loops {
			began := time.Now()
			loop(n)
			best[i] = min(best[i], float64(time.Since(began))/n)
		}
	}
	return best
}
