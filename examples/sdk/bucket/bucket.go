// Package bucket is a small SDK of the kind that clouds have: it signs, it
// retries by itself, and it takes whatever can do an HTTP request. It knows
// nothing of Backstay.
package bucket

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// HTTPClient is what the SDK sends through; an *http.Client is one.
type HTTPClient interface {
	Do(req *http.Request) (*http.Response, error)
}

// Retryer decides whether and when the SDK tries again.
type Retryer interface {
	MaxAttempts() int
	Retryable(err error) bool
	Delay(attempt int) time.Duration
}

// Standard is the Retryer that an SDK has unless told otherwise.
type Standard struct{}

// MaxAttempts is three.
func (Standard) MaxAttempts() int { return 3 }

// Retryable is what breaks, and what is throttled.
func (Standard) Retryable(err error) bool {
	refusal, answered := errors.AsType[*Error](err)
	return !answered || refusal.Status >= 500 || refusal.Code == Throttled
}

// Delay grows from attempt to attempt.
func (Standard) Delay(attempt int) time.Duration { return time.Duration(attempt) * time.Millisecond }

// Nop is the Retryer that never tries again.
type Nop struct{}

// MaxAttempts is one.
func (Nop) MaxAttempts() int { return 1 }

// Retryable is nothing.
func (Nop) Retryable(error) bool { return false }

// Delay is none.
func (Nop) Delay(int) time.Duration { return 0 }

// Throttled is the code of an answer, in the header x-bucket-error, that says
// that there were too many requests. Its status is 400, of all things.
const Throttled = "ThrottlingException"

// Error is an answer of the service that is none.
type Error struct {
	Status int
	Code   string
}

// Error says which.
func (e *Error) Error() string { return fmt.Sprintf("bucket: %d %s", e.Status, e.Code) }

// Options are those of a Client.
type Options struct {
	Endpoint   string
	Secret     string
	HTTPClient HTTPClient // nil is http.DefaultClient
	Retryer    Retryer    // nil is Standard
}

// Client stores things.
type Client struct{ o Options }

// New returns a Client.
func New(o Options) *Client {
	if o.HTTPClient == nil {
		o.HTTPClient = http.DefaultClient
	}
	if o.Retryer == nil {
		o.Retryer = Standard{}
	}
	return &Client{o}
}

// Get returns what is stored under key.
func (c *Client) Get(ctx context.Context, key string) ([]byte, error) {
	return c.call(ctx, http.MethodGet, key, nil)
}

// Put stores data under key.
func (c *Client) Put(ctx context.Context, key string, data []byte) error {
	_, err := c.call(ctx, http.MethodPut, key, data)
	return err
}

// Query asks for what matches. It only reads, but is a POST, as in many SDKs.
func (c *Client) Query(ctx context.Context, what string) ([]byte, error) {
	return c.call(ctx, http.MethodPost, "query", []byte(what))
}

// call tries until it works, or the Retryer has had enough.
func (c *Client) call(ctx context.Context, method, key string, data []byte) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		answer, err := c.try(ctx, method, key, data)
		if err == nil || attempt >= c.o.Retryer.MaxAttempts() || !c.o.Retryer.Retryable(err) {
			return answer, err
		}
		select {
		case <-time.After(c.o.Retryer.Delay(attempt)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// try sends one signed request.
func (c *Client) try(ctx context.Context, method, key string, data []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.o.Endpoint+"/"+key, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, []byte(c.o.Secret))
	fmt.Fprintf(mac, "%s %s %s", method, key, data)
	req.Header.Set("X-Bucket-Signature", hex.EncodeToString(mac.Sum(nil)))
	resp, err := c.o.HTTPClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return nil, &Error{resp.StatusCode, resp.Header.Get("X-Bucket-Error")}
	}
	return body, nil
}
