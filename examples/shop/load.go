package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay/idempotency"
)

// customers come by themselves, however the shop is doing.
type customers struct {
	client *http.Client
	ledger *ledger
	limit  time.Duration // how long they wait at most
	pulse  pulse
	rate   float64 // how many come in a second, on a usual day

	crowd  atomic.Pointer[float64] // how many times as many come
	orders atomic.Int64
	views  views
	inside sync.WaitGroup
}

// come has customers come until ctx ends.
func (c *customers) come(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(c.pause()):
			c.inside.Go(func() { c.visit(ctx) })
		}
	}
}

// pause is how long it takes until the next one comes.
func (c *customers) pause() time.Duration {
	rate := c.rate
	if crowd := c.crowd.Load(); crowd != nil && *crowd > 0 {
		rate *= *crowd
	}
	return time.Duration(float64(time.Second) / rate)
}

// visit is what one customer does.
func (c *customers) visit(ctx context.Context) {
	switch n := rand.IntN(100); {
	case n < 70:
		c.send(http.MethodGet, fmt.Sprintf("/search?q=tea-%d", rand.IntN(20)), "", nil)
	case n < 85:
		c.send(http.MethodGet, fmt.Sprintf("/items/tea-%d", rand.IntN(20)), "", nil)
	default:
		c.order(ctx)
	}
}

// order orders something. Who is not told that it worked comes back with the
// same order after a second, until ctx ends.
func (c *customers) order(ctx context.Context) {
	id := fmt.Sprintf("order-%d", c.orders.Add(1))
	c.ledger.place(id)
	if rand.IntN(10) == 0 { // some click twice
		c.inside.Go(func() { c.ask(id) })
	}
	for !c.ask(id) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// ask sends the order called id, and reports whether it is confirmed. The key
// is that of the order, so it may be sent as often as anybody likes.
func (c *customers) ask(id string) bool {
	body, err := json.Marshal(charge{Order: id, Cents: 350})
	if err != nil || c.send(http.MethodPost, "/orders", id, body) != http.StatusCreated {
		return false
	}
	c.ledger.confirm(id)
	return true
}

// send sends one request and returns the status of its answer; 0 if there is
// none. How long that took is held against the deadline, which is no context
// here: the policies of the front keep it.
func (c *customers) send(method, path, key string, body []byte) (status int) {
	ctx := context.Background()
	if key != "" {
		ctx = idempotency.WithKey(ctx, key)
	}
	began, late := time.Now(), c.pulse.total()
	v := c.get(ctx, method, "http://front.shop"+path, body)
	v.took = time.Since(began)
	if v.took > c.limit+slack {
		time.Sleep(2 * beat) // until the pulse has noticed, too
	}
	c.ledger.wait(v.took, c.limit+c.pulse.total()-late)
	c.views.add(v)
	return v.status
}

// get sends a request, and reads the answer to its end.
func (c *customers) get(ctx context.Context, method, url string, body []byte) view {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return view{err: err}
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return view{err: err}
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return view{status: resp.StatusCode, stale: resp.Header.Get("Age") != "", err: err}
}

// settle waits for all who are inside, and then has those come back once more
// who were not told, again and again for as long as patience lasts.
func (c *customers) settle(patience time.Duration) {
	c.inside.Wait()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		open := c.ledger.open()
		if len(open) == 0 {
			return
		}
		for _, id := range open[:min(len(open), 8)] {
			c.inside.Go(func() { c.ask(id) })
		}
		c.inside.Wait()
	}
}
