package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// cards is the card service, as the orders see it.
type cards struct {
	address   string
	transport *httpmw.Transport
	client    *http.Client
}

// newCards makes a client for the card service over network. It is a service of
// our own: it is told how long we wait.
func newCards(address string, network http.RoundTripper, observer backstay.Observer) (*cards, error) {
	transport, err := httpmw.NewTransport(network, middleware.Internal("cards"), httpmw.WithObserver(observer))
	if err != nil {
		return nil, err
	}
	return &cards{address: address, transport: transport, client: &http.Client{Transport: transport}}, nil
}

// charge takes the money. It may run more than once, and the request may be
// sent more than once each time: the key is the same, so the card is charged
// once.
func (c *cards) charge(ctx context.Context, self actors.Self[order], r Receipt) (next actors.Next[Receipt], err error) {
	body, err := json.Marshal(r)
	if err != nil {
		return next, err
	}
	ctx = idempotency.WithKey(ctx, self.IdempotencyKey("charge"))
	status, text, err := c.ask(ctx, http.MethodPost, "/charges", bytes.NewReader(body))
	switch {
	case err != nil:
		return next, err
	case status == http.StatusCreated:
		r.Charge = string(text)
		return ship.Tail(self, r), nil
	case status == http.StatusPaymentRequired:
		return refuse.Tail(self, r), nil
	default:
		return next, unexpected(status, text)
	}
}

// knows asks whether there is such a card. It is a read: it needs no key.
func (c *cards) knows(ctx context.Context, card string) (bool, error) {
	status, text, err := c.ask(ctx, http.MethodGet, "/cards/"+url.PathEscape(card), nil)
	if err == nil && status != http.StatusOK && status != http.StatusNotFound {
		err = unexpected(status, text)
	}
	return status == http.StatusOK, err
}

// unexpected is an answer that decides nothing, and that asking again does not
// mend.
func unexpected(status int, text []byte) error {
	return fmt.Errorf("the card service answers with %d: %s", status, text)
}

// ask sends a request, and returns an answer that decides. Whatever does not
// is a failed attempt of the method that asks: it runs again later.
func (c *cards) ask(ctx context.Context, method, path string, body io.Reader) (status int, text []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.address+path, body)
	if err != nil {
		return 0, nil, err
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return 0, nil, actors.Retry(err, backstay.Classify(err).RetryAfter)
	}
	defer resp.Body.Close()
	if o := httpmw.Classify(resp, nil); o.Class.Retryable() {
		return 0, nil, actors.Retry(fmt.Errorf("the card service answers with %s", resp.Status), o.RetryAfter)
	}
	if text, err = io.ReadAll(resp.Body); err != nil {
		return 0, nil, actors.Retry(err, 0)
	}
	return resp.StatusCode, text, nil
}
