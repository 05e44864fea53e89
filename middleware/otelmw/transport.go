package otelmw

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.39.0"
	"go.opentelemetry.io/otel/trace"
)

// Transport returns an http.RoundTripper that sends each request with the
// context of its attempt's span, so that the server's span becomes that span's
// child, and tells the span what HTTP knows: method, URL, status. It makes no
// span of its own. It belongs below the policies, so that it sees each attempt:
//
//	httpmw.NewTransport(observer.Transport(http.DefaultTransport), target, httpmw.WithObserver(observer))
//
// A nil next is http.DefaultTransport. Requests that are in no attempt carry the
// span that their context has.
func (o *Observer) Transport(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return &transport{observer: o, next: next}
}

type transport struct {
	observer *Observer
	next     http.RoundTripper
}

// RoundTrip sends req.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	a := attemptOf(req.Context())
	a.sends(req)
	resp, err := t.next.RoundTrip(t.observer.traced(req))
	a.got(resp)
	return resp, err
}

// CloseIdleConnections closes those of the transport below, if it can.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// attemptOf returns the attempt whose span is that of ctx, the first time it is
// asked; nil where somebody has put another span in between, or another request
// has taken it.
func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	if a == nil || !trace.SpanContextFromContext(ctx).Equal(a.span.SpanContext()) || a.taken.Swap(true) {
		return nil
	}
	return a
}

// sends makes the span that of req. A nil attempt has none.
func (a *attempt) sends(req *http.Request) {
	if a == nil {
		return
	}
	name, attrs := method(req.Method)
	attrs = append(attrs, address(req.URL)...)
	a.span.SetName(name)
	a.span.SetAttributes(attrs...)
}

// got tells the span of the response.
func (a *attempt) got(resp *http.Response) {
	if a == nil || resp == nil {
		return
	}
	a.status.Store(int32(resp.StatusCode))
	a.span.SetAttributes(semconv.HTTPResponseStatusCode(resp.StatusCode))
	if resp.ProtoMajor > 0 {
		a.span.SetAttributes(semconv.NetworkProtocolVersion(version(resp)))
	}
}

func version(resp *http.Response) string {
	if resp.ProtoMajor >= 2 {
		return strconv.Itoa(resp.ProtoMajor)
	}
	return strconv.Itoa(resp.ProtoMajor) + "." + strconv.Itoa(resp.ProtoMinor)
}

// methods are those that the conventions know.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete,
	http.MethodConnect, http.MethodOptions, http.MethodTrace, http.MethodPatch,
}

// method returns the span's name and the attributes of a method. Unknown ones
// share a name: there may be any number of them.
func method(m string) (name string, attrs []attribute.KeyValue) {
	switch {
	case m == "":
		m = http.MethodGet
	case !slices.Contains(methods, m):
		return "HTTP", []attribute.KeyValue{semconv.HTTPRequestMethodOther, semconv.HTTPRequestMethodOriginal(valid(m))}
	}
	return m, []attribute.KeyValue{semconv.HTTPRequestMethodKey.String(m)}
}

// address returns the attributes of where a request goes.
func address(u *url.URL) []attribute.KeyValue {
	if u == nil {
		return nil
	}
	attrs := []attribute.KeyValue{semconv.ServerAddress(valid(u.Hostname())), semconv.URLFull(valid(redacted(u)))}
	port, err := strconv.Atoi(u.Port())
	switch {
	case err == nil:
	case u.Scheme == "https":
		port = 443
	default:
		port = 80
	}
	return append(attrs, semconv.ServerPort(port))
}

// secrets are the query parameters that the conventions want hidden: they sign
// a URL, and whoever has it may use it.
var secrets = []string{"AWSAccessKeyId", "Signature", "sig", "X-Goog-Signature", "X-Amz-Signature"}

const hidden = "REDACTED"

// redacted returns u without what gives access.
func redacted(u *url.URL) string {
	safe := *u
	if u.User != nil {
		safe.User = url.UserPassword(hidden, hidden)
	}
	if u.RawQuery != "" {
		fields := strings.Split(u.RawQuery, "&")
		for i, field := range fields {
			if name, _, valued := strings.Cut(field, "="); valued && slices.Contains(secrets, name) {
				fields[i] = name + "=" + hidden
			}
		}
		safe.RawQuery = strings.Join(fields, "&")
	}
	return safe.String()
}
