package chaos_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/chaos"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// client is an http.Client with the policies and the faults of target, in front
// of a server that says hello, and counts.
func client(t *testing.T, target middleware.Target) (c *http.Client, url string, served *atomic.Int32) {
	t.Helper()
	served = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		served.Add(1)
		_, _ = io.WriteString(w, "hello, world")
	}))
	t.Cleanup(server.Close)
	faults, err := chaos.New(target.Faults)
	if err != nil {
		t.Fatal(err)
	}
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	transport, err := httpmw.NewTransport(chaos.NewTransport(base, faults), target)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: transport}, server.URL, served
}

func fault(k middleware.FaultKind) middleware.Fault {
	return middleware.Fault{Name: string(k), Kind: k, Share: 1}
}

func get(t *testing.T, c *http.Client, url string) (text string, report *backstay.Report, err error) {
	t.Helper()
	ctx, report := backstay.WithReport(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", report, err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	return string(all), report, err
}

func TestAStalledBodyIsEndedByTheIdleTimeout(t *testing.T) {
	target := middleware.Target{Name: "hello", Faults: []middleware.Fault{fault(middleware.FaultStalled)}}
	target.HTTP.IdleBody = 30 * time.Millisecond
	target.Faults[0].After = 5
	c, url, _ := client(t, target)
	text, report, err := get(t, c, url)
	if _, ok := errors.AsType[*timeout.Error](err); !ok || text != "hello" {
		t.Errorf("%q, %v", text, err)
	}
	if got := report.Summary().Injected; len(got) != 1 || got[0] != "stalled" {
		t.Errorf("report %v", report)
	}
}

func TestATruncatedBodyIsAnUnexpectedEnd(t *testing.T) {
	target := middleware.Target{Name: "hello", Faults: []middleware.Fault{fault(middleware.FaultTruncated)}}
	target.Faults[0].After = 7
	c, url, _ := client(t, target)
	if text, _, err := get(t, c, url); text != "hello, " || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q, %v", text, err)
	}
}

func TestABlackHoleIsCutByTheAttemptTimeout(t *testing.T) {
	target := middleware.Target{Name: "hello", Faults: []middleware.Fault{fault(middleware.FaultBlackHole)}}
	target.Timeout = &timeout.Config{After: 30 * time.Millisecond}
	c, url, served := client(t, target)
	_, report, err := get(t, c, url)
	if _, ok := errors.AsType[*timeout.Error](err); !ok || served.Load() != 0 {
		t.Errorf("%v, served %d", err, served.Load())
	}
	if o := report.Summary().Outcome; o.Class != backstay.Transient {
		t.Errorf("judged as %+v", o)
	}
}

// A refused connection is known to be unsent, so that even a POST is repeated.
func TestARefusedPostIsSentAgain(t *testing.T) {
	target := middleware.Target{Name: "hello", Faults: []middleware.Fault{fault(middleware.FaultRefused)}}
	target.Retry = &retry.Config{Base: retry.NoWait}
	c, url, served := client(t, target)
	ctx, report := backstay.WithReport(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err == nil {
		resp.Body.Close()
	}
	injected, ok := errors.AsType[*chaos.InjectedError](err)
	if !errors.Is(err, syscall.ECONNREFUSED) || !ok || injected.Fault != "refused" || served.Load() != 0 {
		t.Errorf("%v, served %d", err, served.Load())
	}
	if s := report.Summary(); s.Attempts != 3 || len(s.Injected) != 3 || s.Outcome.Class != backstay.Transient {
		t.Errorf("%+v", s)
	}
}

func TestAnInjectedResetOfAPostIsNotRepeated(t *testing.T) {
	target := middleware.Target{Name: "hello", Faults: []middleware.Fault{fault(middleware.FaultReset)}}
	target.Retry = &retry.Config{Base: retry.NoWait}
	c, url, _ := client(t, target)
	ctx, report := backstay.WithReport(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err == nil {
		resp.Body.Close()
	}
	if s := report.Summary(); !errors.Is(err, syscall.ECONNRESET) || s.Attempts != 1 || s.Reason != backstay.ReasonNotRepeatable {
		t.Errorf("%v, %+v", err, s)
	}
}

func TestAStatusIsJudgedWithItsHeaders(t *testing.T) {
	down := fault(middleware.FaultStatus)
	down.Status, down.Headers = http.StatusServiceUnavailable, map[string]string{"Retry-After": "120"}
	target := middleware.Target{Name: "hello", Faults: []middleware.Fault{down}}
	target.Retry = &retry.Config{}
	c, url, _ := client(t, target)
	_, report, err := get(t, c, url)
	if s := report.Summary(); err != nil || s.Outcome.Class != backstay.Overload || s.Outcome.RetryAfter != 2*time.Minute || s.Reason != backstay.ReasonNoTime {
		t.Errorf("%v, %+v", err, s)
	}
}
