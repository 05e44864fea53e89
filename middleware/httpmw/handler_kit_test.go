package httpmw_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// handler returns a Handler in front of next, which is closed with the test.
func handler(t testing.TB, next http.Handler, s middleware.Server, options ...httpmw.HandlerOption) *httpmw.Handler {
	t.Helper()
	h, err := httpmw.NewHandler(next, s, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Errorf("closing the handler: %v", err)
		}
	})
	return h
}

// keyed returns a Handler that does keyed work once.
func keyed(t testing.TB, next http.Handler, s middleware.Server, options ...httpmw.HandlerOption) *httpmw.Handler {
	t.Helper()
	store, err := idempotency.NewMemory(idempotency.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Idempotency == nil {
		s.Idempotency = &idempotency.GuardConfig{}
	}
	return handler(t, next, s, append(options, httpmw.ServerStore(store))...)
}

var success backstay.Outcome

// reply is an answer, read to its end.
type reply struct {
	status  int
	header  http.Header
	trailer http.Header
	body    string
}

// ask sends req and reads the answer.
func ask(t *testing.T, rt http.RoundTripper, req *http.Request) reply {
	t.Helper()
	got, err := tryAsk(rt, req)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func tryAsk(rt http.RoundTripper, req *http.Request) (reply, error) {
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, resp.Trailer, string(body)}, err
}

// problem fails the test unless the reply is a problem with status, and returns
// its reason.
func (r reply) problem(t *testing.T, status int) (reason string) {
	t.Helper()
	var p struct {
		Title, Reason string
		Status        int
	}
	if err := json.Unmarshal([]byte(r.body), &p); err != nil {
		t.Errorf("%q: %v", r.body, err)
	}
	if r.status != status || p.Status != status || p.Title == "" || r.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("got %d, %v, %s, want a problem with %d", r.status, r.header, r.body, status)
	}
	return p.Reason
}

// post is a request for work, with a key unless that is empty.
func post(t *testing.T, to, key, body string) *http.Request {
	t.Helper()
	req := request(t, context.Background(), http.MethodPost, to, strings.NewReader(body))
	if key != "" {
		req.Header.Set("Idempotency-Key", idempotency.Format(key, false))
	}
	return req
}
