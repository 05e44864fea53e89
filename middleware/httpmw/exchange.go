package httpmw

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/retry"
)

// exchange is how HTTP requests without a body are repeated and judged. One
// serves all calls of a Transport; requests with a body have an [upload] each.
type exchange struct {
	t *Transport
}

// Repeat allows what may be sent twice: a request that never reached the
// server, an idempotent method, a request that carries an idempotency key, one
// that its caller marked, or any to a target that is idempotent.
func (x *exchange) Repeat(req *http.Request, o backstay.Outcome) error {
	switch {
	case connects(req):
		return errors.New("httpmw: a CONNECT or Upgrade request is never sent twice")
	case o.Unsent, idempotent(req.Method), x.t.carriesKey(req), retry.Repeatable(req.Context()), x.t.now().idempotent:
		return nil
	default:
		return fmt.Errorf("httpmw: %s is not idempotent: "+
			"send an idempotency key, mark the context with retry.MarkRepeatable, or the target as idempotent", req.Method)
	}
}

// Hedge allows copies of safe requests, of others that their caller marked, and
// of any to a target that is idempotent.
func (x *exchange) Hedge(req *http.Request) error {
	switch {
	case connects(req):
		return errors.New("httpmw: a CONNECT or Upgrade request is never sent twice")
	case safe(req.Method), x.t.now().idempotent:
		return nil
	case hedge.Marked(req.Context()) && (idempotent(req.Method) || x.t.carriesKey(req)):
		return nil
	default:
		return fmt.Errorf("httpmw: %s is not hedged unless it is idempotent or keyed, "+
			"and marked with hedge.Mark", req.Method)
	}
}

// Fork returns a copy of req that shares nothing with it: late copies,
// abandoned attempts and refreshes outlive the call, and after that the caller
// may change its request.
func (x *exchange) Fork(req *http.Request, _ int) (*http.Request, error) {
	return req.Clone(req.Context()), nil
}

// Classify judges by the Transport's classifier.
func (x *exchange) Classify(resp *http.Response, err error) backstay.Outcome {
	o := x.t.now().judgement.of(resp, err)
	if x.t.classify == nil {
		return o
	}
	return x.t.overrule(resp, err, o)
}

// Bind cancels c when the body of resp has been read or closed.
func (x *exchange) Bind(resp *http.Response, c backstay.Canceler) *http.Response {
	bind(resp, c)
	return resp
}

// Discard drains what little is left of the body, so that the connection can
// be used again, and closes it.
func (x *exchange) Discard(resp *http.Response) { x.t.drain(resp) }

// idempotent reports whether RFC 9110 lets the method be repeated.
func idempotent(method string) bool {
	return safe(method) || method == http.MethodPut || method == http.MethodDelete || method == http.MethodTrace
}

// safe reports whether the method only reads. The empty method is GET.
func safe(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	default:
		return false
	}
}

// connects reports whether the request asks for a connection of its own rather
// than for an answer.
func connects(req *http.Request) bool {
	return req.Method == http.MethodConnect || len(req.Header["Upgrade"]) > 0
}
