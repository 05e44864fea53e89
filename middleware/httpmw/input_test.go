package httpmw_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

func TestANilBaseTransportIsTheDefaultOne(t *testing.T) {
	b := serve(t, false, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	b.clients = append(b.clients, http.DefaultTransport.(*http.Transport))
	tr := transport(t, nil, patient(middleware.Standard("test")))
	resp, err := tr.RoundTrip(request(t, context.Background(), http.MethodGet, b.URL, nil))
	if err != nil || readAll(t, resp) != "ok" {
		t.Fatal(resp, err)
	}
	tr.CloseIdleConnections()
}

func TestARequestThatNetHTTPRefusesIsNotHeldAgainstTheHost(t *testing.T) {
	spaced := func(change func(*http.Request)) *http.Request {
		req := request(t, context.Background(), http.MethodPut, "http://x.test/", nil)
		change(req)
		return req
	}
	for name, req := range map[string]*http.Request{
		"no URL":                spaced(func(r *http.Request) { r.URL = nil }),
		"no host":               spaced(func(r *http.Request) { r.URL = &url.URL{Scheme: "http"} }),
		"no header":             spaced(func(r *http.Request) { r.Header = nil }),
		"no scheme":             spaced(func(r *http.Request) { r.URL.Scheme = "" }),
		"unknown scheme":        spaced(func(r *http.Request) { r.URL.Scheme = "gopher" }),
		"not a method":          spaced(func(r *http.Request) { r.Method = "GO ON" }),
		"not a header's name":   spaced(func(r *http.Request) { r.Header["X Y"] = []string{"1"} }),
		"not a header's value":  spaced(func(r *http.Request) { r.Header["X"] = []string{"1\n2"} }),
		"not a trailer's name":  spaced(func(r *http.Request) { r.Trailer = http.Header{"X Y": nil} }),
		"not a trailer's value": spaced(func(r *http.Request) { r.Trailer = http.Header{"X": {"1\x00"}} }),
	} {
		var seen httpmwtest.Recorder
		tr := transport(t, speaking(false), middleware.Standard("test"), httpmw.WithObserver(&seen))
		body := &counted{Reader: strings.NewReader("abc")}
		req.Body = body
		if _, err := tr.RoundTrip(req); err == nil || len(seen.Events(backstay.RetryPlanned)) > 0 {
			t.Errorf("%s: %v, retried %d times", name, err, len(seen.Events(backstay.RetryPlanned)))
		}
		if c := breakerOf(tr).Counts(); c.Failures != 0 {
			t.Errorf("%s: the breaker counted %+v", name, c)
		}
		if got := body.closed.Load(); got != 1 {
			t.Errorf("%s: the body was closed %d times", name, got)
		}
	}
}

func TestASchemeOfTheBaseTransportsOwnPassesAtOnce(t *testing.T) {
	base := speaking(false)
	base.RegisterProtocol("memory", roundTripper(func(req *http.Request) (*http.Response, error) {
		return answer(req, http.StatusTeapot), nil
	}))
	tr := transport(t, base, middleware.Standard("test"))
	resp, err := tr.RoundTrip(request(t, context.Background(), http.MethodGet, "memory://x.test/", nil))
	if err != nil || resp.StatusCode != http.StatusTeapot {
		t.Error(resp, err)
	}
}

func TestABaseTransportThatBreaksItsContract(t *testing.T) {
	for _, preset := range presets {
		t.Run("neither response nor error, "+preset.name, func(t *testing.T) {
			n := 0
			tr := transport(t, roundTripper(func(*http.Request) (*http.Response, error) {
				n++
				return nil, nil
			}), preset.of("test"))
			if resp, err := get(t, context.Background(), tr); resp != nil || err == nil || n != 1 {
				t.Errorf("%v, %v after %d attempts", resp, err, n)
			}
		})
		t.Run("a response without a body, "+preset.name, func(t *testing.T) {
			tr := transport(t, httpmwtest.Loop(bodiless(503), bodiless(200)), quick(preset.of("test")),
				httpmw.WithStaleCache(httpmw.StaleCache{}))
			resp, err := get(t, context.Background(), tr)
			if err != nil || resp.StatusCode != 200 || resp.Body == nil {
				t.Fatal(resp, err)
			}
			if text := readAll(t, resp); text != "" {
				t.Errorf("read %q", text)
			}
		})
		t.Run("a response beside an error, "+preset.name, func(t *testing.T) {
			body := &counted{Reader: strings.NewReader("x")}
			broken := errors.New("broken")
			tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
				resp := answer(req, 200)
				resp.Body = body
				return resp, broken
			}), preset.of("test"))
			resp, err := tr.RoundTrip(request(t, retry.Never(context.Background()), http.MethodGet, "http://x.test/", nil))
			if resp != nil || err != broken || body.closed.Load() == 0 {
				t.Errorf("%v, %v; the body was closed %d times", resp, err, body.closed.Load())
			}
		})
	}
}

// bodiless answers without a body, which only a careless transport does.
func bodiless(status int) httpmwtest.Step {
	return httpmwtest.Serve(func(req *http.Request) (*http.Response, error) {
		resp := answer(req, status)
		resp.Body = nil
		return resp, nil
	})
}

// quick returns t without waits between attempts.
func quick(t middleware.Target) middleware.Target {
	t.Retry = &retry.Config{Base: retry.NoWait}
	return t
}

// tracer is an observer and tracer that panics wherever it can.
type tracer struct{ starts bool }

func (tracer) Observe(context.Context, backstay.Event) { panic("observer") }

func (t tracer) Start(ctx context.Context, _ backstay.Event) (context.Context, func(backstay.Event)) {
	if t.starts {
		return ctx, func(backstay.Event) { panic("end of a span") }
	}
	panic("tracer")
}

func TestCallbacksThatPanicDoNotCostTheAnswer(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		name   string
		told   bool
		option httpmw.Option
	}{
		{"classifier", true, httpmw.WithClassifier(func(*http.Response, error, backstay.Outcome) backstay.Outcome { panic(boom) })},
		{"key", true, httpmw.WithKey(func(*http.Request) string { panic(boom) })},
		{"stale cache's key", true, httpmw.WithStaleCache(httpmw.StaleCache{Key: func(*http.Request) string { panic(boom) }})},
		{"observer beside another one", true, httpmw.WithObserver(tracer{})},
		{"end of a span", true, httpmw.WithObserver(tracer{starts: true})},
		{"nil classifier", false, httpmw.WithClassifier(nil)},
		{"nil key", false, httpmw.WithKey(nil)},
		{"nil observer", false, httpmw.WithObserver(nil)},
		{"nil budget", false, httpmw.WithRetryBudget(nil)},
	} {
		for _, preset := range presets {
			var seen httpmwtest.Recorder
			backend := httpmwtest.Script(httpmwtest.Status(503).Body("sorry"), httpmwtest.Status(200).Body("ok"))
			tr := transport(t, backend, quick(preset.of("test")), c.option, httpmw.WithObserver(&seen))
			resp, err := get(t, context.Background(), tr)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if text := readAll(t, resp); text != "ok" {
				t.Errorf("%s: %q", c.name, text)
			}
			if got := seen.Events(backstay.CallbackPanicked); (len(got) > 0) != c.told {
				t.Errorf("%s, %s: told of %d panics", c.name, preset.name, len(got))
			}
			if got := tr.Pipelines().Len(); got != 1 || bulkheadOf(tr).InFlight() != 0 {
				t.Errorf("%s: %d pipelines, %d permits in flight", c.name, got, bulkheadOf(tr).InFlight())
			}
		}
	}
}

func TestAPanicOfAFallbackIsTheNextOnesTurn(t *testing.T) {
	var rung fallback.For[*http.Request, *http.Response]
	tr := transport(t, httpmwtest.Script(httpmwtest.Reset()), only("test"), httpmw.WithFallback(
		rung.Reduced("first", func(context.Context, *http.Request, error) (*http.Response, error) { panic("boom") }),
		rung.Reduced("second", func(_ context.Context, req *http.Request, _ error) (*http.Response, error) {
			return answer(req, http.StatusNonAuthoritativeInfo), nil
		})))
	if resp, err := get(t, context.Background(), tr); err != nil || resp.StatusCode != http.StatusNonAuthoritativeInfo {
		t.Error(resp, err)
	}
}

func TestAClosedTransportRefuses(t *testing.T) {
	for _, preset := range presets {
		backend := httpmwtest.Script(httpmwtest.Status(200).Body("still readable"))
		tr := transport(t, backend, preset.of("test"))
		resp, err := get(t, context.Background(), tr)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := tr.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
		if text := readAll(t, resp); text != "still readable" {
			t.Errorf("%q", text)
		}
		for _, url := range []string{"http://x.test/", "http://new.test/"} {
			_, err := tr.RoundTrip(request(t, context.Background(), http.MethodGet, url, nil))
			if !errors.Is(err, middleware.ErrClosed) || !errors.Is(err, backstay.ErrRejected) {
				t.Errorf("%s: %v", url, err)
			}
		}
		backend.Want(t, 1)
	}
}

func TestAllFaultsOfATargetAreNamedAtOnce(t *testing.T) {
	target := middleware.Standard("payments")
	target.Retry = &retry.Config{MaxAttempts: -1, Base: -5, Budget: retry.BudgetConfig{Ratio: 2}}
	target.Timeout = &timeout.Config{After: -2}
	target.Bulkhead = &bulkhead.Config{Limit: -7}
	target.Hedge = &hedge.Config{Percentile: 1.5}
	target.Fallback = &fallback.Config{DrillShare: -1, FailClosed: true}
	target.Propagate.Header = "x-mine"
	target.HTTP.IdleBody = -1
	target.HTTP.ReplayLimit = -2
	target.Keys.Max = -1
	var rung fallback.For[*http.Request, *http.Response]
	tr, err := httpmw.NewTransport(nil, target, httpmw.WithStaleCache(httpmw.StaleCache{MaxBody: -1}), httpmw.WithFallback(rung.Reduced("", nil)))
	if tr != nil || err == nil {
		t.Fatal("a transport out of faults")
	}
	for _, path := range []string{
		"retry.max_attempts", "retry.base", "retry.budget.ratio", "timeout.after", "bulkhead.limit", "hedge.percentile",
		"fallback.drill_share", "fallback.fail_closed", "stale_cache.max_body", "fallback.rungs[1].name", "fallback.rungs[1].answer",
		"propagate.header", "http.idle_body", "http.replay_limit", "keys.max",
	} {
		if got := strings.Count(err.Error(), "payments."+path+":"); got == 0 {
			t.Errorf("%s is not named", path)
		}
	}
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		if slices.Index(lines, line) != i {
			t.Errorf("told twice: %s", line)
		}
	}
	if t.Failed() {
		t.Logf("the faults are\n%v", err)
	}
}
