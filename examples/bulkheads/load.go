package main

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// patience is how long a caller waits for its answer.
const patience = 500 * time.Millisecond

// load is so many calls of each kind, spread evenly.
type load struct {
	calls  int
	during time.Duration
}

// put makes the calls, each at its time, whatever becomes of those before.
func (l load) put(ctx context.Context, url string) (prices, reviews *tally) {
	prices, reviews = new(tally), new(tally)
	network := &http.Transport{MaxIdleConnsPerHost: l.calls}
	defer network.CloseIdleConnections()
	client := &http.Client{Transport: network}

	var callers sync.WaitGroup
	began := time.Now()
	for i := range l.calls {
		time.Sleep(time.Until(began.Add(l.during * time.Duration(i) / time.Duration(l.calls))))
		callers.Go(func() { prices.call(ctx, client, url+"/prices") })
		callers.Go(func() { reviews.call(ctx, client, url+"/reviews") })
	}
	callers.Wait()
	return prices, reviews
}

// get makes one call, and returns the status of its answer.
func get(ctx context.Context, client *http.Client, url string) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}
