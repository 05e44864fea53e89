package httpmw

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/idempotency"
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
	key       func(*http.Request) string
	keys      *idempotency.Policy
	judgement judgement
	classify  func(*http.Response, error, backstay.Outcome) backstay.Outcome // nil: no opinion
	plain     *exchange                                                      // serves every request without a body
	send      backstay.Call[*http.Request, *http.Response]                   // sendOnce, bound once
	headers   headers

	replayLimit int64
	idleBody    time.Duration
	drainLimit  int64
	drainTime   time.Duration
	name        string
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
	began := backstay.Now()
	p := t.pipelines.Get(t.key(req), began)
	ctx, req := t.withKey(req)
	if connects(req) {
		ctx = deadline.Unbounded(ctx)
	}
	if req.Body == nil || req.Body == http.NoBody {
		return middleware.RunAt(ctx, began, p, t.ladder, t.plain, req, t.send)
	}
	u, first := newUpload(t, req)
	defer u.finish()
	return middleware.RunAt(ctx, began, p, t.ladder, u, first, t.send)
}

// malformed reports whether net/http is going to refuse req before sending it.
func malformed(req *http.Request) bool {
	return req.URL == nil || req.URL.Host == "" || req.Header == nil ||
		(req.URL.Scheme != "http" && req.URL.Scheme != "https")
}

// errNoAnswer is the error of a base transport that breaks the contract of
// http.RoundTripper.
var errNoAnswer = errors.New("httpmw: the base transport returned neither a response nor an error")

// sendOnce sends one attempt: the innermost call of the pipeline.
func (t *Transport) sendOnce(ctx context.Context, req *http.Request) (*http.Response, error) {
	if p, ok := req.Body.(*part); ok {
		p.handOver(ctx)
	}
	resp, err := t.next.RoundTrip(t.headers.onto(ctx, req))
	if err != nil {
		return nil, withContext(ctx, err)
	}
	if resp == nil {
		return nil, errNoAnswer
	}
	if t.idleBody > 0 && resp.StatusCode != http.StatusSwitchingProtocols && resp.Body != nil {
		bodyOf(resp).idle = &idleTimer{after: t.idleBody, name: t.name}
	}
	return resp, nil
}

// withContext returns err, and says that ctx has ended where err does not: to
// wake a Read of the request's body, its end closes that body, which is then
// what the base transport complains of.
func withContext(ctx context.Context, err error) error {
	if ended := backstay.ContextError(ctx); ended != nil && !errors.Is(err, ctx.Err()) {
		return fmt.Errorf("%w: %w", ended, err)
	}
	return err
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

// Pipelines returns the registry of the Transport's pipelines, for reports and
// for manual control.
func (t *Transport) Pipelines() *middleware.Registry { return t.pipelines }
