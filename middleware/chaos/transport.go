package chaos

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/backstay-go/backstay/middleware"
)

// Transport is an http.RoundTripper that injects faults into what goes through
// it. It is safe for concurrent use.
//
// It keeps the contract of http.RoundTripper: the request is not changed, its
// body is closed on every path, and a response is never returned beside an
// error.
type Transport struct {
	next     http.RoundTripper
	injector *Injector
}

// NewTransport returns a Transport that injects what i decides, and sends
// everything else through next. A nil next is http.DefaultTransport; a nil i
// injects nothing.
//
// It belongs inside of everything that is to be tried out: as the base
// transport of a httpmw.Transport it meets each attempt and each copy for
// itself.
func NewTransport(next http.RoundTripper, i *Injector) *Transport {
	if next == nil {
		next = http.DefaultTransport
	}
	return &Transport{next: next, injector: i}
}

// RoundTrip sends req, unless a fault keeps it from being sent.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL == nil {
		return t.next.RoundTrip(req) // which says what is wrong, and closes the body
	}
	c, faulty := t.injector.faulty(requestOf(req))
	if !faulty {
		return t.next.RoundTrip(req)
	}
	return t.inject(c, req)
}

func requestOf(req *http.Request) Request {
	method := req.Method
	if method == "" {
		method = http.MethodGet
	}
	return Request{Host: req.URL.Host, Method: method, Path: req.URL.Path, Header: req.Header}
}

// inject sends req with the faults of c.
func (t *Transport) inject(c injection, req *http.Request) (*http.Response, error) {
	sent := false
	defer func() {
		if !sent && req.Body != nil {
			_ = req.Body.Close()
		}
	}()
	ctx := req.Context()
	hit, err := c.before(ctx)
	switch {
	case err != nil:
		return nil, err
	case hit != nil && hit.Fault.Kind == middleware.FaultStatus:
		return answer(req, hit.Fault), nil
	}
	sent = true
	resp, err := t.next.RoundTrip(req)
	if err == nil && hit != nil {
		c.cut(ctx, hit, resp)
	}
	return resp, err
}

// answer returns the response that f stands for.
func answer(req *http.Request, f *middleware.Fault) *http.Response {
	resp := &http.Response{
		Status:     strconv.Itoa(f.Status) + " " + http.StatusText(f.Status),
		StatusCode: f.Status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        make(http.Header, len(f.Headers)),
		Body:          http.NoBody,
		ContentLength: int64(len(f.Body)),
		Request:       req,
	}
	for name, value := range f.Headers {
		resp.Header.Set(name, value)
	}
	if f.Body != "" && req.Method != http.MethodHead {
		resp.Body = io.NopCloser(strings.NewReader(f.Body))
	}
	return resp
}

// cut lets the body of resp end, or fall silent, where hit says. A response
// without a body, or one that changed the protocol, stays as it is.
func (c *injection) cut(ctx context.Context, hit *Injected, resp *http.Response) {
	if resp == nil || resp.Body == nil || resp.Body == http.NoBody || resp.StatusCode == http.StatusSwitchingProtocols {
		return
	}
	e := mark(hit.Fault)
	if hit.Latency == 0 {
		c.tell(ctx, hit, e)
	}
	b := &body{from: resp.Body, left: hit.Fault.After, closed: make(chan struct{})}
	b.end = func() error { return c.failure(e, c.host) }
	if hit.Fault.Kind == middleware.FaultStalled {
		b.end = func() error { return c.stall(ctx, hit.Fault, b.closed) }
	}
	resp.Body = b
}

// CloseIdleConnections closes those of the next transport, if it can.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
