package otelmw_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/backstay-go/backstay"
)

// wire is a transport that answers by itself.
type wire func(*http.Request) (*http.Response, error)

func (f wire) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// answer returns a wire that answers with status over HTTP/1.1.
func answer(status int) wire {
	return func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody, Request: req}, nil
	}
}

// attempt sends req as an attempt's and returns the attempt's span's attributes.
func (l *lab) attempt(req *http.Request, next http.RoundTripper) (attrs map[string]string, name string) {
	l.t.Helper()
	ctx, endCall := l.Start(l.t.Context(), backstay.Event{Kind: backstay.CallStarted})
	ctx, endAttempt := l.Start(ctx, backstay.Event{Kind: backstay.AttemptStarted, Attempt: 1, Copy: 1})
	resp, err := l.Transport(next).RoundTrip(req.WithContext(ctx))
	done := backstay.Event{Err: err}
	if err != nil || resp.StatusCode >= 400 {
		done.Outcome.Class = backstay.Transient
	}
	endAttempt(done)
	endCall(done)
	span := l.ended()[1]
	attrs = make(map[string]string)
	for _, kv := range span.Attributes() {
		attrs[string(kv.Key)] = kv.Value.Emit()
	}
	return attrs, span.Name()
}

func request(method, url string) *http.Request {
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		panic(err)
	}
	return req
}

func TestARequestIsDescribedAsTheConventionsSay(t *testing.T) {
	for _, row := range []struct {
		name string
		req  *http.Request
		next http.RoundTripper
		span string
		want map[string]string
	}{
		{"a GET", request("GET", "https://shop.example/items?q=soup"), answer(200), "GET", map[string]string{
			"http.request.method": "GET", "server.address": "shop.example", "server.port": "443",
			"url.full": "https://shop.example/items?q=soup", "http.response.status_code": "200", "network.protocol.version": "1.1",
		}},
		{"a port of its own, and no method", &http.Request{URL: request("GET", "http://[::1]:8080/").URL}, answer(200), "GET", map[string]string{
			"http.request.method": "GET", "server.address": "::1", "server.port": "8080",
			"url.full": "http://[::1]:8080/", "http.response.status_code": "200", "network.protocol.version": "1.1",
		}},
		{"a method that nobody knows", request("BREW", "http://pot/"), answer(418), "HTTP", map[string]string{
			"http.request.method": "_OTHER", "http.request.method_original": "BREW", "server.address": "pot", "server.port": "80",
			"url.full": "http://pot/", "http.response.status_code": "418", "network.protocol.version": "1.1", "error.type": "418",
		}},
		{"secrets in the URL", request("GET", "https://ann:pass@s3.example/a?X-Amz-Signature=abc&sig=&x=1&Signature"), answer(503), "GET", map[string]string{
			"http.request.method": "GET", "server.address": "s3.example", "server.port": "443",
			"url.full": "https://REDACTED:REDACTED@s3.example/a?X-Amz-Signature=REDACTED&sig=REDACTED&x=1&Signature", "http.response.status_code": "503",
			"network.protocol.version": "1.1", "error.type": "503",
		}},
		{"no answer", request("PUT", "http://a.example/x"), wire(func(*http.Request) (*http.Response, error) { return nil, errDown }), "PUT", map[string]string{
			"http.request.method": "PUT", "server.address": "a.example", "server.port": "80", "url.full": "http://a.example/x", "error.type": "*errors.errorString",
		}},
		{"HTTP/2", request("GET", "https://a.example/"), wire(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 204, ProtoMajor: 2, Body: http.NoBody}, nil
		}), "GET", map[string]string{
			"http.request.method": "GET", "server.address": "a.example", "server.port": "443", "url.full": "https://a.example/",
			"http.response.status_code": "204", "network.protocol.version": "2",
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			attrs, span := newLab(t).attempt(row.req, row.next)
			maps.DeleteFunc(attrs, func(name, _ string) bool { return strings.HasPrefix(name, "backstay.") })
			if !maps.Equal(attrs, row.want) {
				t.Errorf("got  %v\nwant %v", attrs, row.want)
			}
			if span != row.span {
				t.Errorf("the span is called %q, want %q", span, row.span)
			}
		})
	}
}

func TestTheCallersRequestIsNotChanged(t *testing.T) {
	l := newLab(t)
	ctx, span := l.tracers.Tracer("caller").Start(t.Context(), "handle")
	defer span.End()
	req := request("GET", "http://a.example/").WithContext(ctx)
	req.Header.Set("Traceparent", "somebody else's")
	req.Header.Set("Accept", "text/plain")
	var sent http.Header
	_, err := l.Transport(wire(func(req *http.Request) (*http.Response, error) {
		sent = req.Header
		return answer(200)(req)
	})).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if req.Header.Get("Traceparent") != "somebody else's" || len(req.Header) != 2 {
		t.Errorf("the caller's header is now %v", req.Header)
	}
	id := span.SpanContext().SpanID().String()
	if got := sent.Values("Traceparent"); len(got) != 1 || !strings.Contains(got[0], id) || sent.Get("Accept") != "text/plain" {
		t.Errorf("sent %v, want span %s", sent, id)
	}
}

func TestWithNothingToCarryTheRequestIsSentAsItIs(t *testing.T) {
	l := newLab(t)
	req := request("GET", "http://a.example/")
	_, _ = l.Transport(wire(func(got *http.Request) (*http.Response, error) {
		if got != req {
			t.Error("it is a copy")
		}
		return answer(200)(got)
	})).RoundTrip(req)
}

func TestARequestWithoutAHeaderIsSentWithOne(t *testing.T) {
	l := newLab(t)
	l.attempt(&http.Request{URL: request("GET", "http://a.example/").URL}, wire(func(req *http.Request) (*http.Response, error) {
		if req.Header.Get("Traceparent") == "" {
			t.Error("nothing is carried")
		}
		return answer(200)(req)
	}))
}

// An instrument in between has a span of its own, which the request is then of.
func TestASpanInBetweenIsTheOneThatTheRequestCarries(t *testing.T) {
	l := newLab(t)
	var carried string
	transport := l.Transport(wire(func(req *http.Request) (*http.Response, error) {
		carried = req.Header.Get("Traceparent")
		return answer(200)(req)
	}))
	ctx, endCall := l.Start(t.Context(), backstay.Event{Kind: backstay.CallStarted})
	ctx, endAttempt := l.Start(ctx, backstay.Event{Kind: backstay.AttemptStarted, Attempt: 1, Copy: 1})
	ctx, span := l.tracers.Tracer("app").Start(ctx, "prepare")
	_, _ = transport.RoundTrip(request("GET", "http://a.example/").WithContext(ctx))
	span.End()
	endAttempt(backstay.Event{})
	endCall(backstay.Event{})
	if id := span.SpanContext().SpanID().String(); !strings.Contains(carried, id) {
		t.Errorf("carried %q, want span %s", carried, id)
	}
	for _, s := range l.spans.Ended() {
		if attr(s, "url.full") != "" {
			t.Errorf("%s was taken for the request's span", s.Name())
		}
	}
}

// An attempt of an ordinary function may send several requests: its span can
// describe one of them.
func TestTheFirstRequestOfAnAttemptHasItsSpan(t *testing.T) {
	l := newLab(t)
	_, name := l.attempt(request("GET", "http://a.example/"), wire(func(req *http.Request) (*http.Response, error) {
		_, _ = l.Transport(answer(500)).RoundTrip(request("POST", "http://b.example/").WithContext(req.Context()))
		return answer(200)(req)
	}))
	if name != "GET" {
		t.Errorf("the span is called %q", name)
	}
}

type closer struct {
	http.RoundTripper
	closed int
}

func (c *closer) CloseIdleConnections() { c.closed++ }

func TestIdleConnectionsAreClosedBelow(t *testing.T) {
	o := observer(t)
	below := &closer{RoundTripper: answer(200)}
	client := &http.Client{Transport: o.Transport(below)}
	client.CloseIdleConnections()
	if below.closed != 1 {
		t.Errorf("closed %d times", below.closed)
	}
	(&http.Client{Transport: o.Transport(answer(200))}).CloseIdleConnections() // which has none
	if o.Transport(nil) == nil {
		t.Error("no transport")
	}
}

func TestErrorsAreToldByFewWords(t *testing.T) {
	for want, err := range map[string]error{
		"timeout":             errors.Join(context.DeadlineExceeded),
		"canceled":            context.Canceled,
		"rejected":            backstay.ErrRejected,
		"*errors.errorString": backstay.RetryAfter(errDown, 1),
	} {
		l := newLab(t)
		_, end := l.Start(t.Context(), backstay.Event{Kind: backstay.CallStarted})
		end(backstay.Event{Outcome: outcome(backstay.Fault), Err: err})
		s := l.ended()[0]
		if got := attr(s, "error.type"); got != want || s.Status().Description != err.Error() || s.Status().Code != codes.Error {
			t.Errorf("%v: got %q, %v", err, got, s.Status())
		}
	}
}

func TestSpansOfAttemptsAreClients(t *testing.T) {
	l := newLab(t)
	l.attempt(request("GET", "http://a.example/"), answer(200))
	kinds := []trace.SpanKind{l.ended()[0].SpanKind(), l.ended()[1].SpanKind()}
	if !slices.Equal(kinds, []trace.SpanKind{trace.SpanKindInternal, trace.SpanKindClient}) {
		t.Errorf("got %v", kinds)
	}
}
