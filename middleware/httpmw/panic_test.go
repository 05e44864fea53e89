package httpmw_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
	"github.com/backstay-go/backstay/timeout"
)

// bulkheadOf returns the bulkhead of x.test.
func bulkheadOf(tr *httpmw.Transport) *bulkhead.Bulkhead {
	return tr.Pipelines().Get("x.test", backstay.Now()).Bulkhead()
}

// recovered returns what a GET through rt panics with.
func recovered(t *testing.T, rt http.RoundTripper) (v any) {
	t.Helper()
	defer func() { v = recover() }()
	_, _ = get(t, t.Context(), rt)
	return nil
}

// boom panics with v once it has waited for d.
func boom(v any, d time.Duration) httpmwtest.Step {
	return httpmwtest.Serve(func(req *http.Request) (*http.Response, error) {
		if err := wait(req.Context(), d); err != nil {
			return nil, err
		}
		panic(v)
	})
}

// Acceptance case C43.
func TestC43_APanicOrALostWaiterFreesItsPermit(t *testing.T) {
	for _, v := range []any{"boom", http.ErrAbortHandler} {
		for _, hold := range []bool{false, true} {
			target := only("test")
			target.Bulkhead = &bulkhead.Config{Limit: 1, HoldBody: hold}
			tr := transport(t, httpmwtest.Script(boom(v, 0), httpmwtest.Status(200)), target)
			if got := recovered(t, tr); got != v {
				t.Errorf("recovered %v, want %v", got, v)
			}
			if _, err := get(t, t.Context(), tr); err != nil {
				t.Errorf("after %v, the next call: %v", v, err)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		target := only("test")
		target.Bulkhead = &bulkhead.Config{Limit: 8, MaxQueue: 100, MaxWait: time.Second}
		var gate atomic.Pointer[chan struct{}]
		open := make(chan struct{})
		gate.Store(&open)
		var serving, peak atomic.Int64
		tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
			peak.Store(max(peak.Load(), serving.Add(1)))
			<-*gate.Load()
			serving.Add(-1)
			return answer(req, http.StatusOK), nil
		}), target)
		var wg sync.WaitGroup
		call := func(ctx context.Context, want error) {
			wg.Go(func() {
				if _, err := get(t, ctx, tr); !errors.Is(err, want) {
					t.Errorf("error %v, want %v", err, want)
				}
			})
		}
		ctx, cancel := context.WithCancel(t.Context())
		for range 8 {
			call(t.Context(), nil)
		}
		synctest.Wait()
		for range 8 {
			call(t.Context(), bulkhead.ErrFull) // waits in vain
			call(ctx, context.Canceled)
		}
		synctest.Wait()
		cancel()
		time.Sleep(2 * time.Second)
		close(open)
		wg.Wait()

		again := make(chan struct{})
		gate.Store(&again)
		for range 20 {
			call(t.Context(), nil)
		}
		synctest.Wait()
		if b := bulkheadOf(tr); b.InFlight() != 8 || b.Queued() != 12 || serving.Load() != 8 {
			t.Errorf("%d in flight, %d queued, %d served; the capacity was 8", b.InFlight(), b.Queued(), serving.Load())
		}
		close(again)
		wg.Wait()
		if b := bulkheadOf(tr); b.InFlight() != 0 || b.Queued() != 0 || peak.Load() != 8 {
			t.Errorf("%d in flight, %d queued in the end, at most %d served", b.InFlight(), b.Queued(), peak.Load())
		}
	})
}

// Acceptance case C51.
func TestC51_APanicReachesTheCallersOwnRecover(t *testing.T) {
	abandon := middleware.Standard("test")
	abandon.Timeout = &timeout.Config{Abandon: true}
	hedges := middleware.Reads("test")
	hedges.Hedge = &hedge.Config{Delay: 10 * time.Millisecond}
	for _, c := range []struct {
		name     string
		target   middleware.Target
		failures int // that the breaker counts
		steps    []httpmwtest.Step
	}{
		{"under no policy", only("test"), 0, []httpmwtest.Step{boom("boom", 0)}},
		{"under timeout and bulkhead", middleware.Standard("test"), 1, []httpmwtest.Step{boom("boom", 0)}},
		{"in a second attempt", middleware.Standard("test"), 2, []httpmwtest.Step{httpmwtest.Status(503), boom("boom", 0)}},
		{"under an abandoning timeout", abandon, 1, []httpmwtest.Step{boom("boom", time.Second)}},
		{"under hedge, before there is a copy", hedges, 1, []httpmwtest.Step{boom("boom", 0)}},
		{"under hedge, in the first copy", hedges, 1, []httpmwtest.Step{boom("boom", time.Second), httpmwtest.BlackHole()}},
		{"under hedge, in the second copy", hedges, 1, []httpmwtest.Step{httpmwtest.BlackHole(), boom("boom", time.Second)}},
	} {
		for _, told := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				var options []httpmw.Option
				if told {
					options = append(options, httpmw.WithObserver(new(httpmwtest.Recorder)))
				}
				target := c.target
				if target.Breaker != nil {
					target.Breaker = &breaker.Config{Consecutive: c.failures}
				}
				tr := transport(t, httpmwtest.Script(c.steps...), target, options...)
				if got := recovered(t, tr); got != "boom" {
					t.Errorf("%s: recovered %v", c.name, got)
				}
				synctest.Wait()
				if got := bulkheadOf(tr).InFlight(); got != 0 {
					t.Errorf("%s: %d permits in flight", c.name, got)
				}
				if b := breakerOf(tr); b != nil && b.State() != breaker.Open {
					t.Errorf("%s: the breaker is %v", c.name, b.State())
				}
			})
		}
	}
}

// Acceptance case C51.
func TestC51_APanicClosesTheRequestsBody(t *testing.T) {
	for _, preset := range presets {
		body := &counted{Reader: http.NoBody}
		tr := transport(t, roundTripper(func(*http.Request) (*http.Response, error) { panic("boom") }), preset.of("test"))
		func() {
			defer func() { _ = recover() }()
			_, _ = tr.RoundTrip(request(t, t.Context(), http.MethodPut, "http://x.test/", body))
		}()
		if got := body.closed.Load(); got != 1 {
			t.Errorf("%s: closed %d times", preset.name, got)
		}
	}
}

// Acceptance case C56.
func TestC56_AnAttemptThatRunsOnHoldsItsPermitUntilItHasEnded(t *testing.T) {
	for _, abandons := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			target := only("test")
			target.Bulkhead = &bulkhead.Config{Limit: 1}
			target.Timeout = &timeout.Config{After: time.Second, Abandon: abandons}
			var late atomic.Bool
			tr := transport(t, httpmwtest.Script(httpmwtest.Serve(func(req *http.Request) (*http.Response, error) {
				time.Sleep(10 * time.Second) // whatever its context says
				resp := answer(req, http.StatusOK)
				resp.Body = closer{http.NoBody, &late}
				return resp, nil
			}), httpmwtest.Status(200)), target)
			began := time.Now()
			call := make(chan error)
			go func() {
				_, err := get(t, t.Context(), tr)
				call <- err
			}()
			time.Sleep(5 * time.Second)
			if _, err := get(t, t.Context(), tr); !errors.Is(err, bulkhead.ErrFull) {
				t.Errorf("abandons %v: while the first runs on, another call gets %v", abandons, err)
			}
			if err := <-call; !errors.Is(err, timeout.ErrTimeout) {
				t.Errorf("abandons %v: %v", abandons, err)
			}
			if took := time.Since(began); !abandons && took != 10*time.Second || abandons && took != 5*time.Second {
				t.Errorf("abandons %v: known after %v", abandons, took)
			}
			if err := tr.Close(t.Context()); err != nil || time.Since(began) != 10*time.Second || !late.Load() {
				t.Errorf("abandons %v: closed after %v: %v; late body closed: %v", abandons, time.Since(began), err, late.Load())
			}
			if got := bulkheadOf(tr).InFlight(); got != 0 {
				t.Errorf("abandons %v: %d permits in the end", abandons, got)
			}
		})
	}
}

// closer is a response body that tells that it was closed.
type closer struct {
	io.ReadCloser
	closed *atomic.Bool
}

func (c closer) Close() error {
	c.closed.Store(true)
	return c.ReadCloser.Close()
}
