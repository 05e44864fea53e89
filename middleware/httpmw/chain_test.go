package httpmw_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/backstay-go/backstay/retry"
)

// chain is how the services of a test reach each other: it returns a base
// transport to a service that answers with h.
type chain func(t *testing.T, host string, h http.HandlerFunc) http.RoundTripper

// direct is a chain without connections. Like a network, it carries no context.
func direct(_ *testing.T, _ string, h http.HandlerFunc) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		h(w, req.Clone(context.Background()))
		return w.Result(), nil
	})
}

// load counts what reaches the last of three layers, which is down, when users
// make 1,000 calls and each layer retries within the budget.
func load(t *testing.T, connect chain, budget retry.BudgetConfig) int64 {
	t.Helper()
	layer := func(host string, h http.HandlerFunc) http.RoundTripper {
		target := only(host)
		target.Retry = &retry.Config{MaxAttempts: 3, Base: retry.NoWait, Budget: budget}
		return transport(t, connect(t, host, h), target)
	}
	var reached atomic.Int64
	third := layer("c.test", func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	second := layer("b.test", passing(third, "c.test"))
	first := layer("a.test", passing(second, "b.test"))
	for range 1000 {
		resp, err := first.RoundTrip(request(t, t.Context(), http.MethodGet, "http://a.test/", nil))
		if err != nil || resp.StatusCode != http.StatusServiceUnavailable {
			t.Fatal(resp, err)
		}
		readAll(t, resp)
	}
	return reached.Load()
}

// passing is a service that asks the next one, host, and passes its answer on.
func passing(rt http.RoundTripper, host string) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		resp, err := rt.RoundTrip(must(http.NewRequestWithContext(req.Context(), http.MethodGet, "http://"+host+"/", nil)))
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}
}

// Acceptance case C50.
func TestC50_ThreeLayersOfRetriesDoNotMultiply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if got := load(t, direct, retry.NoBudget); got != 27_000 {
			t.Errorf("%d calls reached the last of three layers without budgets, want 27,000", got)
		}
		n := new(network)
		for name, connect := range map[string]chain{
			"without connections": direct,
			"over connections": func(t *testing.T, host string, h http.HandlerFunc) http.RoundTripper {
				return n.serve(t, host, false, h).base(t)
			},
		} {
			if got := load(t, connect, retry.BudgetConfig{}); got > 1341 || got < 1331 {
				t.Errorf("%s, %d calls reached the last of three layers, want at most 1,341", name, got)
			}
		}
	})
}
