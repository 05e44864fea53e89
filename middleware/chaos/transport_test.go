package chaos_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/chaos"
)

func TestAStatusIsAnswered(t *testing.T) {
	f := always(middleware.FaultStatus)
	f.Headers, f.Body = map[string]string{"retry-after": "2"}, "later"
	server := new(backend)
	rt := chaos.NewTransport(server, injector(t, f))
	req := request(t.Context(), t, http.MethodGet)
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if resp.StatusCode != 503 || resp.Status != "503 Service Unavailable" || resp.Header.Get("Retry-After") != "2" ||
		string(text) != "later" || err != nil || resp.ContentLength != 5 || resp.Request != req || resp.Body.Close() != nil {
		t.Errorf("%+v %q %v", resp, text, err)
	}
	if server.calls.Load() != 0 {
		t.Error("the request was sent")
	}
	if resp, err = rt.RoundTrip(request(t.Context(), t, http.MethodHead)); err != nil || resp.Body != http.NoBody || resp.ContentLength != 5 {
		t.Errorf("HEAD: %+v %v", resp, err)
	}
}

func TestATruncatedBodyIsShort(t *testing.T) {
	for after, want := range map[int64]string{0: "", 5: "hello", 12: "hello, world", 100: "hello, world"} {
		f := always(middleware.FaultTruncated)
		f.After = after
		server := new(backend)
		resp, err := chaos.NewTransport(server, injector(t, f)).RoundTrip(request(t.Context(), t, http.MethodGet))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if string(text) != want || !strings.HasPrefix(err.Error(), "unexpected EOF") || resp.ContentLength != 12 {
			t.Errorf("after %d: %q, %v", after, text, err)
		}
		if n, again := resp.Body.Read(make([]byte, 1)); n != 0 || again != err { //nolint:errorlint // the same
			t.Errorf("after %d, again: %v", after, again)
		}
		_, _ = resp.Body.Close(), resp.Body.Close()
		if n := server.body.closed.Load(); n != 1 {
			t.Errorf("closed %d times", n)
		}
		if _, err := resp.Body.Read(make([]byte, 1)); err != http.ErrBodyReadAfterClose { //nolint:errorlint // as it is
			t.Errorf("after Close: %v", err)
		}
	}
}

func TestAResponseWithoutABodyStaysAsItIs(t *testing.T) {
	for name, resp := range map[string]*http.Response{
		"no body":            {StatusCode: 204, Body: http.NoBody},
		"none at all":        {StatusCode: 204},
		"another protocol":   {StatusCode: 101, Body: &trackedBody{}},
		"a broken transport": nil,
	} {
		i, seen := watched(t, always(middleware.FaultTruncated))
		rt := chaos.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { return resp, nil }), i)
		var before io.ReadCloser
		if resp != nil {
			before = resp.Body
		}
		got, err := rt.RoundTrip(request(t.Context(), t, http.MethodGet))
		if got != resp || err != nil || got != nil && got.Body != before {
			t.Errorf("%s: %+v %v", name, got, err)
		}
		if len(seen.Take()) != 0 {
			t.Errorf("%s: told of a fault that did not happen", name)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestTheBodyOfARequestIsClosedOnce(t *testing.T) {
	for _, kind := range middleware.FaultKinds() {
		for name, canceled := range map[string]bool{"alive": false, "canceled": true} {
			ctx, cancel := context.WithCancel(t.Context())
			if canceled || kind == middleware.FaultBlackHole {
				cancel()
			}
			body := &trackedBody{Reader: strings.NewReader("x")}
			req := request(ctx, t, http.MethodPost)
			req.Body = body
			resp, err := chaos.NewTransport(new(backend), injector(t, always(kind))).RoundTrip(req)
			cancel()
			if (resp == nil) == (err == nil) {
				t.Errorf("%s, %s: %v beside %v", kind, name, resp, err)
			}
			if n := body.closed.Load(); n != 1 {
				t.Errorf("%s, %s: closed %d times", kind, name, n)
			}
			if resp != nil {
				resp.Body.Close()
			}
		}
	}
}

func TestTheBodyOfARequestIsClosedWhereACallbackPanics(t *testing.T) {
	i, err := chaos.New([]middleware.Fault{always(middleware.FaultReset)}, chaos.WithError(func(*chaos.InjectedError) error { panic("callback") }))
	if err != nil {
		t.Fatal(err)
	}
	body := &trackedBody{Reader: strings.NewReader("x")}
	req := request(t.Context(), t, http.MethodPost)
	req.Body = body
	defer func() {
		if recover() == nil || body.closed.Load() != 1 {
			t.Error("the panic is lost, or the body is open")
		}
	}()
	_, _ = chaos.NewTransport(new(backend), i).RoundTrip(req)
}

func TestWhatHasNoFaultGoesThrough(t *testing.T) {
	for name, i := range map[string]*chaos.Injector{
		"no injector": nil,
		"no faults":   injector(t),
		"none now":    injector(t, middleware.Fault{Name: "x", Kind: middleware.FaultReset, Share: 1, Match: middleware.FaultMatch{Header: "X-Chaos"}}),
	} {
		status, text, err := get(t.Context(), t, chaos.NewTransport(new(backend), i))
		if status != 200 || text != "hello, world" || err != nil {
			t.Errorf("%s: %d %q %v", name, status, text, err)
		}
	}
}

func TestOnlyTheCallsOfOneTestHaveTheFault(t *testing.T) {
	f := always(middleware.FaultStatus)
	f.Match = middleware.FaultMatch{Header: "X-Chaos", Value: "drill-7"}
	rt := chaos.NewTransport(new(backend), injector(t, f))
	for value, want := range map[string]int{"drill-7": 503, "drill-8": 200, "": 200} {
		req := request(t.Context(), t, http.MethodGet)
		if value != "" {
			req.Header.Set("X-Chaos", value)
		}
		resp, err := rt.RoundTrip(req)
		if err != nil || resp.StatusCode != want {
			t.Errorf("%q: %v %v", value, resp, err)
		}
	}
}

func TestAMalformedRequestIsLeftToTheTransportBelow(t *testing.T) {
	resp, err := chaos.NewTransport(nil, injector(t, always(middleware.FaultReset))).RoundTrip(&http.Request{})
	if resp != nil || err == nil || !strings.Contains(err.Error(), "nil Request.URL") {
		t.Errorf("%v %v", resp, err)
	}
}

func TestARequestWithoutAMethodIsAGet(t *testing.T) {
	f := always(middleware.FaultReset)
	f.Match.Methods = []string{"GET"}
	req := request(t.Context(), t, "")
	req.Method = ""
	if _, err := chaos.NewTransport(new(backend), injector(t, f)).RoundTrip(req); err == nil {
		t.Error("sent")
	}
}

type idle struct {
	roundTripper
	closed *bool
}

func (i idle) CloseIdleConnections() { *i.closed = true }

func TestIdleConnectionsAreThoseOfTheTransportBelow(t *testing.T) {
	closed := false
	chaos.NewTransport(idle{closed: &closed}, nil).CloseIdleConnections()
	chaos.NewTransport(new(backend), nil).CloseIdleConnections()
	if !closed {
		t.Error("still open")
	}
}

func nothing(*http.Request) (*http.Response, error) { return nil, nil }
