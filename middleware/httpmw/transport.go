package httpmw

import (
	"context"
	"errors"
	"net/http"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/middleware"
)

// Transport is an http.RoundTripper that sends requests through a pipeline of
// policies, one pipeline for each key: the host, unless [WithKey] says
// otherwise. It is safe for concurrent use.
//
// It keeps the contract of http.RoundTripper: the caller's request is not
// changed, its body is closed on every path, and a response is never returned
// beside an error.
type Transport struct {
	next      http.RoundTripper
	pipelines *middleware.Registry
	ladder    *fallback.Ladder[*http.Request, *http.Response]
	key       func(*http.Request) string                                     // nil: the host
	classify  func(*http.Response, error, backstay.Outcome) backstay.Outcome // nil: no opinion
	plain     *exchange                                                      // serves every request without a body
	send      backstay.Call[*http.Request, *http.Response]                   // sendOnce, bound once
	name      string
}

// RoundTrip sends req through the pipeline of its key.
//
// Where the last attempt had a response, that response is returned, whatever
// its status; an error comes only from a failure of the network or from a
// refusal, which matches [backstay.ErrRejected].
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if malformed(req) {
		return t.next.RoundTrip(req) // which says what is wrong, and closes the body
	}
	if req.Body == nil || req.Body == http.NoBody {
		return t.call(t.plain, req)
	}
	u, first := newUpload(t, req)
	answered := false
	defer func() { u.finish(answered) }()
	resp, err := t.call(u, first)
	answered = err == nil
	return resp, err
}

// call sends req through the pipeline of its key.
func (t *Transport) call(x backstay.Exchange[*http.Request, *http.Response], req *http.Request) (*http.Response, error) {
	began := backstay.Now()
	p := t.pipelines.Get(t.keyOf(req), began)
	ctx, req, err := t.withKey(req)
	if err != nil {
		return nil, err
	}
	if connects(req) {
		ctx = deadline.Unbounded(ctx)
	}
	resp, err := middleware.RunAt(ctx, began, p, t.ladder, x, req, t.send)
	if err != nil || resp.StatusCode >= http.StatusBadRequest {
		t.relay(ctx, resp, err)
	}
	return resp, err
}

// malformed reports whether net/http is going to refuse req before sending it.
func malformed(req *http.Request) bool {
	return req.URL == nil || req.URL.Host == "" || req.Header == nil ||
		(req.URL.Scheme != "http" && req.URL.Scheme != "https")
}

// CloseIdleConnections closes those of the base transport, if it can. Nothing
// in this package calls it: giving up on one host leaves the connections to
// all others alone.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// Close refuses further requests and waits for what the Transport still owns:
// late copies, abandoned attempts, refreshes of stale answers; or until ctx
// ends. Bodies of answers that were handed out stay readable.
func (t *Transport) Close(ctx context.Context) error {
	return errors.Join(t.pipelines.Close(ctx), t.ladder.Close(ctx))
}

// Pipelines returns the registry of the Transport's pipelines, for reports, for
// manual control, and to put another target in force: its Apply changes all
// that the Transport does, but for its fallbacks.
func (t *Transport) Pipelines() *middleware.Registry { return t.pipelines }
