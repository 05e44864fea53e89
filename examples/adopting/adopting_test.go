package adopting

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

// payments is a service in memory, and the base transport that leads to it.
type payments struct {
	requests atomic.Int64
	takes    time.Duration
	failures atomic.Int64 // how many answers are still to be 503
	told     string       // how long the caller waits, as it was told last
}

func (p *payments) RoundTrip(req *http.Request) (*http.Response, error) {
	defer func() {
		if req.Body != nil {
			_ = req.Body.Close()
		}
	}()
	p.requests.Add(1)
	p.told = req.Header.Get("X-Backstay-Timeout-Ms")
	select {
	case <-time.After(p.takes):
	case <-req.Context().Done():
		return nil, context.Cause(req.Context())
	}
	w := httptest.NewRecorder()
	if p.failures.Add(-1) >= 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

// watched makes what is made once in a program.
func watched(t *testing.T) *watching {
	t.Helper()
	w, err := newWatching()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// after is the client after some steps.
func after(t *testing.T, p *payments, steps ...func(middleware.Target) middleware.Target) *http.Client {
	t.Helper()
	client, transport, err := bounded(p, watched(t), targetOf(steps...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := transport.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return client
}

func targetOf(steps ...func(middleware.Target) middleware.Target) middleware.Target {
	target := middleware.Target{Name: "payments"}
	for _, step := range steps {
		target = step(target)
	}
	return target
}

// ask sends one request and returns the status of its answer, 0 without one.
func ask(t *testing.T, client *http.Client, method string) (status int, took time.Duration, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://payments.internal/", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		return 0, time.Since(began), err
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, time.Since(began), resp.Body.Close()
}

func TestStep1ChangesNothingAndTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, takes := range []time.Duration{time.Millisecond, time.Minute} {
			p := &payments{takes: takes}
			w, calls := watched(t), atomic.Int64{}
			w.observer = backstay.Observers(w.observer, backstay.ObserverFunc(func(_ context.Context, e backstay.Event) {
				if e.Kind == backstay.CallDone {
					calls.Add(1)
				}
			}))
			client, err := observed(p, w)
			if err != nil {
				t.Fatal(err)
			}
			wantStatus, wantTook, wantErr := ask(t, before(p), http.MethodGet)
			status, took, err := ask(t, client, http.MethodGet)
			if status != wantStatus || took != wantTook || (err == nil) != (wantErr == nil) || calls.Load() != 1 {
				t.Errorf("%d after %v, %v, told %d times; before: %d after %v, %v", status, took, err, calls.Load(), wantStatus, wantTook, wantErr)
			}
		}
	})
}

func TestStep2EndsWhatHangsAndTellsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &payments{takes: time.Minute}
		if _, took, err := ask(t, before(p), http.MethodGet); took != 10*time.Second || err == nil {
			t.Errorf("before: %v after %v", err, took)
		}
		if _, took, err := ask(t, after(t, p, withDeadlines), http.MethodGet); took != time.Second || err == nil {
			t.Errorf("after: %v after %v", err, took)
		}
		if p.told != "1000" {
			t.Errorf("the server is told %q ms", p.told)
		}
	})
}

func TestStep3MendsFailuresAndBoundsWhatThatCosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(payments)
		client := after(t, p, withDeadlines, withRetries)
		p.failures.Store(2)
		if status, _, err := ask(t, client, http.MethodGet); status != http.StatusOK {
			t.Errorf("%d, %v", status, err)
		}
		outage := func(call func()) int64 {
			p.requests.Store(0)
			p.failures.Store(1 << 40)
			for range 100 {
				call()
			}
			return p.requests.Load()
		}
		if n := outage(func() { _, _, _ = ask(t, client, http.MethodGet) }); n > 115 {
			t.Errorf("100 calls in an outage are %d requests", n)
		}
		n := outage(func() {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://payments.internal/", nil)
			resp, err := byHand(t.Context(), before(p), req)
			if err != nil || resp.StatusCode != http.StatusServiceUnavailable || resp.Body.Close() != nil {
				t.Error(resp, err)
			}
		})
		if n != 300 {
			t.Errorf("by hand they are %d", n)
		}
	})
}

func TestStep4StopsCallingWhatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(payments)
		p.failures.Store(1 << 40)
		client := after(t, p, withDeadlines, withRetries, withBreakers)
		var err error
		for range 100 {
			_, _, err = ask(t, client, http.MethodGet)
		}
		if n := p.requests.Load(); n != 10 || !errors.Is(err, backstay.ErrRejected) {
			t.Errorf("100 calls are %d requests; the last ended in %v", n, err)
		}
	})
}

func TestStep4CanOnlyCountAtFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(payments)
		p.failures.Store(1 << 40)
		client, transport, err := bounded(p, watched(t), targetOf(withBreakers))
		if err != nil {
			t.Fatal(err)
		}
		b := onlyCount(transport, "payments.internal")
		for range 100 {
			if _, _, err := ask(t, client, http.MethodGet); err != nil {
				t.Fatal(err)
			}
		}
		if would, why := wouldOpen(b); !would || why != breaker.ReasonFailureRatio || p.requests.Load() != 100 {
			t.Errorf("it would open: %v, %s; %d requests", would, why, p.requests.Load())
		}
	})
}

func TestStep5DoesKeyedWorkOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := idempotency.NewMemory(idempotency.MemoryConfig{})
		if err != nil {
			t.Fatal(err)
		}
		var derived []string
		mux := http.NewServeMux()
		mux.HandleFunc("POST /orders", func(_ http.ResponseWriter, req *http.Request) {
			derived = append(derived, idempotency.KeyFrom(charging(req.Context())))
		})
		handler, err := served(mux, store, watched(t))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/orders", strings.NewReader("{}"))
			req.Header.Set("Idempotency-Key", `"order-7"`)
			handler.ServeHTTP(httptest.NewRecorder(), req)
		}
		if len(derived) != 1 || derived[0] != idempotency.Derive("order-7", "charge") {
			t.Errorf("it ran with the keys %q", derived)
		}
	})
}

func TestStep5HasAPostRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name  string
			steps []func(middleware.Target) middleware.Target
			want  int
		}{
			{"without keys", []func(middleware.Target) middleware.Target{withRetries}, http.StatusServiceUnavailable},
			{"with them", []func(middleware.Target) middleware.Target{withRetries, withKeys}, http.StatusOK},
		} {
			p := new(payments)
			p.failures.Store(1)
			if status, _, err := ask(t, after(t, p, c.steps...), http.MethodPost); status != c.want {
				t.Errorf("%s: %d, %v", c.name, status, err)
			}
		}
	})
}

func TestTheFileSaysWhatTheCodeSays(t *testing.T) {
	policies, err := policyfile.Load("policies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	code := targetOf(withDeadlines, withRetries, withBreakers, withKeys)
	if file := policies.Target("payments"); !reflect.DeepEqual(file.Config, code.Config) || !reflect.DeepEqual(file.Propagate, code.Propagate) {
		t.Errorf("the file says\n%+v\n%+v", file, code)
	}
	for _, note := range policies.Notes() {
		t.Error(note)
	}
	client, err := fromFile(t.Context(), new(payments), "policies.yaml", watched(t))
	if err != nil {
		t.Fatal(err)
	}
	if status, _, err := ask(t, client, http.MethodGet); status != http.StatusOK {
		t.Errorf("%d, %v", status, err)
	}
}
