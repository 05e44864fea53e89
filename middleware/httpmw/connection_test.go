package httpmw_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/middleware"
)

// Acceptance case C1.
func TestC1_OneConnectionIsEnoughForRetriedAnswersWithBodies(t *testing.T) {
	big := bytes.Repeat([]byte("x"), 256<<10)
	handler := func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("X-Backstay-Attempt") != "3" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write(big)
	}
	target := retries()
	target.Propagate.Hosts = []string{"*"}
	run := func(target middleware.Target) func(*testing.T, *backend) {
		return func(t *testing.T, b *backend) {
			c := &http.Client{Transport: transport(t, b.base(t), target)}
			before := 0
			for i := range 30 {
				resp, err := c.Get(b.URL)
				if err != nil {
					t.Fatal(err)
				}
				if resp.StatusCode != http.StatusOK || len(readAll(t, resp)) != len(big) {
					t.Fatalf("status %d", resp.StatusCode)
				}
				if i == 0 {
					before = runtime.NumGoroutine()
				}
			}
			if got := b.requests.Load(); got != 90 {
				t.Errorf("%d requests, want 90", got)
			}
			if got := b.connections.Load(); got != 1 {
				t.Errorf("%d connections, want 1", got)
			}
			if after := runtime.NumGoroutine(); after > before+10 {
				t.Errorf("goroutines grew from %d to %d", before, after)
			}
		}
	}
	overBoth(t, handler, run(patient(target)))
	inMemory(t, handler, run(target))
}

// Acceptance case C53.
func TestC53_GivingUpOnOneHostLeavesTheConnectionsToOthersOpen(t *testing.T) {
	for _, p := range protocols {
		synctest.Test(t, func(t *testing.T) {
			n := new(network)
			a := n.serve(t, "a.test", p.two, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
			n.serve(t, "b.test", p.two, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
			target := middleware.Standard("test")
			target.Breaker = &breaker.Config{Consecutive: 3}
			c := &http.Client{Transport: transport(t, n.base(p.two), target)}
			ask := func(url string) error {
				resp, err := c.Get(url)
				if err == nil {
					readAll(t, resp)
				}
				return err
			}
			for range 5 {
				if err := ask("http://a.test"); err != nil {
					t.Fatal(err)
				}
				if err := ask("http://b.test"); err == nil {
					t.Fatal("b answers")
				}
			}
			if err := ask("http://b.test"); !errors.Is(err, breaker.ErrOpen) {
				t.Errorf("b was not given up: %v", err)
			}
			if got := a.connections.Load(); got != 1 || a.open.Load() != 1 {
				t.Errorf("%s: %d connections to a, %d of them open; want the same one", p.name, got, a.open.Load())
			}
		})
	}
}
