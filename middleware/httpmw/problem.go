package httpmw

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/wire"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/timeout"
)

// comeBack is the Retry-After of a server that is full, or has an answer on its
// way, and knows no better.
const comeBack = time.Second

// statusClosed says, in logs alone, that the client left before its answer.
const statusClosed = 499

// problem is an answer in the form of RFC 9457.
type problem struct {
	Title  string          `json:"title"`
	Status int             `json:"status"`
	Detail string          `json:"detail,omitempty"`
	Reason backstay.Reason `json:"reason,omitempty"`
	wait   time.Duration   // Retry-After; 0: none
	never  bool            // another attempt would meet the same
}

// WriteError answers with err, which a call that the handler made has ended in:
//
//	no time left to begin          504, X-Backstay-Retry: never
//	deadline passed                504
//	bulkhead full, rate exceeded   503, Retry-After
//	breaker open, pipeline closed  503, X-Backstay-Retry: never
//	timeout                        503
//	idempotency                    what the error names, Retry-After where it does
//	caller gone                    499
//	anything else                  500
//
// The body is a problem of RFC 9457, application/problem+json. It names the
// kind of the failure, as [middleware.Told] has it, and nothing of the text of
// err, which the observer is told. It must be the first word of the answer.
func WriteError(w http.ResponseWriter, err error) { problemOf(err).write(w) }

// problemOf returns the answer for err.
func problemOf(err error) problem {
	o := backstay.Classify(err)
	p := problem{wait: o.RetryAfter, never: o.Final}
	p.Detail, p.Reason = middleware.Told(err)
	if refusal, ok := errors.AsType[*idempotency.Error](err); ok {
		p.Status, p.wait = refusal.HTTPStatus(), refusal.RetryAfter
		return p
	}
	if unread, ok := errors.AsType[*bodyError](err); ok {
		p.Status, p.Detail = unread.status(), "The request's body could not be read."
		return p
	}
	switch {
	case p.Reason == backstay.ReasonTooLate:
		p.Status, p.never = http.StatusGatewayTimeout, true // it will not be any earlier then
	case errors.Is(err, bulkhead.ErrFull):
		p.Status, p.wait = http.StatusServiceUnavailable, max(p.wait, comeBack)
	case o.Class == backstay.Rejected:
		p.Status, p.never = http.StatusServiceUnavailable, middleware.Forbids(o)
	case errors.Is(err, timeout.ErrTimeout):
		p.Status = http.StatusServiceUnavailable
	case errors.Is(err, context.DeadlineExceeded):
		p.Status, p.Detail = http.StatusGatewayTimeout, "The deadline has passed."
	case o.Class == backstay.Canceled:
		p.Status = statusClosed
	default:
		p.Status = http.StatusInternalServerError
	}
	return p
}

// write sends the problem as the answer.
func (p problem) write(w http.ResponseWriter) {
	h := w.Header()
	for _, name := range [...]string{"Content-Length", "Content-Encoding", "Etag", "Last-Modified"} {
		h.Del(name) // of an answer that there will not be
	}
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	if p.wait > 0 {
		h.Set(wire.HeaderRetryAfter, strconv.FormatInt(int64((p.wait+time.Second-1)/time.Second), 10))
	}
	if p.never {
		h.Set(wire.HeaderRetry, wire.RetryNever)
	}
	if p.Title = http.StatusText(p.Status); p.Status == statusClosed {
		p.Title = "Client Closed Request"
	}
	body, _ := json.Marshal(p) // of strings and a number
	w.WriteHeader(p.Status)
	_, _ = w.Write(body)
}
