package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
)

// patience is what a customer gives the shop to answer a click.
const patience = 400 * time.Millisecond

// customer orders things with nothing but HTTP, as any browser could.
type customer struct {
	name   string
	dir    string // where the shop is published
	client *http.Client
	sent   *requests
}

// purchase is an order, from the customer's side.
type purchase struct {
	Purchase
	key     string   // made with the form, sent with each click
	answers []answer // to each click that has got one
}

// answer is what a click came to.
type answer struct {
	status int
	body   string
}

// buy clicks twice, at the same time.
func (c *customer) buy(ctx context.Context, p *purchase) error {
	var clicks sync.WaitGroup
	var answers [2]answer
	var errs [2]error
	for i := range answers {
		clicks.Go(func() { answers[i], errs[i] = c.click(ctx, p) })
	}
	clicks.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("%s, click %d: %w", c.name, i+1, err)
		}
	}
	p.answers = append(p.answers, answers[:]...)
	return nil
}

// click asks until there is an answer that says what has become of the order.
func (c *customer) click(ctx context.Context, p *purchase) (answer, error) {
	for {
		began := time.Now()
		a, err := c.post(ctx, p)
		c.sent.count(time.Since(began), a, err)
		if err == nil && a.final() {
			return a, nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return a, fmt.Errorf("no answer, the last try ended with %q, %w", a.body, context.Cause(ctx))
		}
	}
}

// post sends the order once. It says how long it is going to wait, and waits
// for longer: the shop has to keep the time.
func (c *customer) post(ctx context.Context, p *purchase) (answer, error) {
	shop, err := lookUp(c.dir, "orders")
	if err != nil {
		return answer{}, err
	}
	form, err := json.Marshal(p.Purchase)
	if err != nil {
		return answer{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, shop+"/orders", strings.NewReader(string(form)))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Customer", c.name)
	req.Header.Set(idempotency.DefaultHeader, p.key)
	req.Header.Set(deadline.DefaultHeader, strconv.FormatInt(patience.Milliseconds(), 10))
	resp, err := c.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, string(body)}, err
}

// final reports whether the answer says what has become of the order.
func (a answer) final() bool { return a.receipt().Status != "" }

// receipt is empty if the answer is none.
func (a answer) receipt() (r Receipt) {
	if json.Unmarshal([]byte(a.body), &r) != nil {
		return Receipt{}
	}
	return r
}
