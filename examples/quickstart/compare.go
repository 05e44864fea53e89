package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/retry"
)

const (
	workers  = 16
	calls    = 50 // of each worker
	patience = time.Second
)

// badDay fails one request in seven, is slow with one in forty, and for a
// while is down altogether.
func badDay(n int64, _ *http.Request) (time.Duration, int) {
	switch {
	case n > 300 && n <= 360, n%7 == 0:
		return 0, http.StatusServiceUnavailable
	case n%40 == 0:
		return 400 * time.Millisecond, http.StatusOK
	default:
		return 5 * time.Millisecond, http.StatusOK
	}
}

// compare lives through the bad day with two clients.
func compare(s *services) error {
	t := middleware.Standard("menu")
	t.Retry = &retry.Config{Base: 20 * time.Millisecond, Budget: retry.BudgetConfig{Ratio: 0.3}}
	t.Hedge = &hedge.Config{Delay: 30 * time.Millisecond}
	t.Breaker = &breaker.Config{OpenFor: 50 * time.Millisecond} // the outage is short
	careful, err := httpmw.NewTransport(&http.Transport{MaxIdleConnsPerHost: 2 * workers}, t,
		httpmw.WithStaleCache(httpmw.StaleCache{}))
	if err != nil {
		return err
	}
	plain := &http.Transport{MaxIdleConnsPerHost: 2 * workers}
	defer plain.CloseIdleConnections()
	defer careful.CloseIdleConnections()

	fmt.Printf("   %-12s %10s %10s %10s %22s\n", "", "success", "p50", "p99", "requests on the server")
	for _, c := range []struct {
		name      string
		transport http.RoundTripper
	}{{"http.Client", plain}, {"Backstay", careful}} {
		s.menu.be(badDay)
		good, took := load(&http.Client{Transport: c.transport}, s.menu.url())
		fmt.Printf("   %-12s %9.1f%% %10v %10v %15d for %d\n", c.name, 100*float64(good)/float64(len(took)),
			percentile(took, 50), percentile(took, 99), s.menu.seen(), len(took))
	}
	return careful.Close(context.Background())
}

// load makes the calls and returns how many were answered well, and how long
// each took.
func load(c *http.Client, url string) (good int, took []time.Duration) {
	var (
		mu sync.Mutex
		wg sync.WaitGroup
	)
	for range workers {
		wg.Go(func() {
			for range calls {
				began := time.Now()
				ok := answered(c, url)
				mu.Lock()
				took = append(took, time.Since(began))
				if ok {
					good++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return good, took
}

// answered makes one call and reports whether it was answered well.
func answered(c *http.Client, url string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := c.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK
}

// percentile returns the p-th percentile of all, rounded.
func percentile(all []time.Duration, p int) time.Duration {
	slices.Sort(all)
	return all[len(all)*p/100].Round(10 * time.Microsecond)
}
