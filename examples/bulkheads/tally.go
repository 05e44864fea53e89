package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// tally counts what became of the calls of one kind.
type tally struct {
	mu                        sync.Mutex
	answered, refused, gaveUp int
	took                      []time.Duration
}

// call makes one call, and counts what became of it.
func (t *tally) call(ctx context.Context, client *http.Client, url string) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	status, err := get(ctx, client, url)
	t.count(time.Since(began), status, err)
}

func (t *tally) count(took time.Duration, status int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.took = append(t.took, took)
	switch {
	case err != nil:
		t.gaveUp++
	case status == http.StatusOK:
		t.answered++
	default:
		t.refused++
	}
}

// String tells the counts and the latencies, as the rest of a table's row.
func (t *tally) String() string {
	slices.Sort(t.took)
	n := len(t.took)
	return fmt.Sprintf("%9d %8d %8d %10v %10v", t.answered, t.refused, t.gaveUp,
		t.took[n*50/100].Round(100*time.Microsecond), t.took[n*95/100].Round(100*time.Microsecond))
}
