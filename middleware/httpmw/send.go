package httpmw

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/wire"
)

// sendOnce sends one attempt: the innermost call of the pipeline.
func (t *Transport) sendOnce(ctx context.Context, req *http.Request) (*http.Response, error) {
	p, ok := req.Body.(*part)
	if !ok {
		return t.roundTrip(ctx, req)
	}
	p.await(true)
	p.handOver(ctx)
	resp, err := t.roundTrip(ctx, req)
	p.await(false)
	if err != nil && p.broken() {
		// The caller's own body failed, as that of an upload does whose client
		// has gone: the backend had no part in it.
		err = backstay.Mark(err, backstay.Outcome{Class: backstay.Canceled})
	}
	return resp, err
}

// roundTrip has req answered by the base transport, and makes good what that
// may have left out.
func (t *Transport) roundTrip(ctx context.Context, req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(t.now().headers.onto(ctx, req))
	if err != nil {
		t.drain(resp) // nil, if the transport keeps its contract
		return nil, failure(ctx, req, err)
	}
	if resp == nil {
		return nil, errNoAnswer
	}
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	if resp.Request == nil {
		resp.Request = req
	}
	if idle := t.now().idleBody; idle > 0 && resp.StatusCode != http.StatusSwitchingProtocols && resp.Body != http.NoBody {
		bodyOf(resp).idle = &idleTimer{after: idle, name: t.name}
	}
	return resp, nil
}

// errNoAnswer is the error of a base transport that breaks the contract of
// http.RoundTripper, which another attempt does not mend.
var errNoAnswer = backstay.Mark(
	errors.New("httpmw: the base transport returned neither a response nor an error"),
	backstay.Outcome{Class: backstay.Fault},
)

// failure returns err with what is known beside it. Where ctx has ended and
// err does not say so, it says so: to wake a Read of the request's body, the
// end of ctx closes that body, which is then what the base transport complains
// of.
func failure(ctx context.Context, req *http.Request, err error) error {
	if ended := backstay.ContextError(ctx); ended != nil && !errors.Is(err, ctx.Err()) {
		return fmt.Errorf("%w: %w", ended, err)
	}
	if !sendable(req) {
		return backstay.PermanentError(err)
	}
	return err
}

// sendable reports whether net/http would send req at all. It is asked once an
// attempt has failed: a request that its caller has put together wrongly is no
// better in another attempt, and says nothing of the backend.
func sendable(req *http.Request) bool {
	return (req.Method == "" || wire.IsToken(req.Method)) && areFields(req.Header) && areFields(req.Trailer)
}

func areFields(h http.Header) bool {
	for name, values := range h {
		if !wire.IsToken(name) {
			return false
		}
		for _, v := range values {
			if strings.ContainsFunc(v, wire.IsControl) {
				return false
			}
		}
	}
	return true
}
