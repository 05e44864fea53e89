package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// tally counts what became of the calls of one day.
type tally struct {
	calls sync.WaitGroup

	mu                   sync.Mutex
	fresh, stale, failed int
	took                 []time.Duration
}

func (t *tally) count(took time.Duration, stale bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.took = append(t.took, took)
	switch {
	case err != nil:
		t.failed++
	case stale:
		t.stale++
	default:
		t.fresh++
	}
}

// String tells the counts and the latencies, as the middle of a table's row.
func (t *tally) String() string {
	slices.Sort(t.took)
	return fmt.Sprintf("%7s %7s %7s %9v %9v",
		t.share(t.fresh), t.share(t.stale), t.share(t.failed), t.percentile(50), t.percentile(99))
}

func (t *tally) share(n int) string {
	return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(len(t.took)))
}

// percentile returns the time within which p of a hundred calls were over.
func (t *tally) percentile(p int) time.Duration {
	return t.took[len(t.took)*p/100].Round(100 * time.Microsecond)
}
