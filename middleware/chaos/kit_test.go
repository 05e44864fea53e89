package chaos_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/chaos"
)

func zero() float64 { return 0 }

func hits(d chaos.Decision) bool { return len(d.Injected) > 0 }

func injector(t *testing.T, faults ...middleware.Fault) *chaos.Injector {
	t.Helper()
	i, err := chaos.New(faults)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// watched is an injector whose events are seen.
func watched(t *testing.T, faults ...middleware.Fault) (*chaos.Injector, *testkit.Recorder) {
	t.Helper()
	seen := new(testkit.Recorder)
	i, err := chaos.New(faults, chaos.WithScope(&backstay.Scope{Policy: "payments", Observer: seen}))
	if err != nil {
		t.Fatal(err)
	}
	return i, seen
}

// always is a fault of kind k in every call.
func always(k middleware.FaultKind) middleware.Fault {
	f := middleware.Fault{Name: string(k), Kind: k, Share: 1}
	if k == middleware.FaultStatus {
		f.Status = http.StatusServiceUnavailable
	}
	if k == middleware.FaultLatency {
		f.Latency.Mean = 1
	}
	return f
}

// backend answers "hello, world" and counts.
type backend struct {
	calls atomic.Int32
	body  *trackedBody // of the last answer
}

func (b *backend) RoundTrip(req *http.Request) (*http.Response, error) {
	b.calls.Add(1)
	if req.Body != nil {
		_ = req.Body.Close()
	}
	b.body = &trackedBody{Reader: strings.NewReader("hello, world")}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Body: b.body, ContentLength: 12, Request: req,
	}, nil
}

// trackedBody counts how often it is closed.
type trackedBody struct {
	io.Reader
	closed atomic.Int32
}

func (b *trackedBody) Close() error {
	b.closed.Add(1)
	return nil
}

func request(ctx context.Context, t *testing.T, method string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, "http://payments.test/v1/charges", nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// get sends a GET, and returns the status, the body and the error of either.
func get(ctx context.Context, t *testing.T, rt http.RoundTripper) (status int, text string, err error) {
	t.Helper()
	resp, err := rt.RoundTrip(request(ctx, t, http.MethodGet))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(all), err
}
