package httpmw

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/wire"
)

// Classify is the default judgement of what a RoundTripper returned:
//
//   - 1xx to 3xx is a success; 408, 425 and 5xx but for 501 and 505 are
//     transient; 429, and 503 with a server's wait or an overload signal, are
//     overload; 501 and 505 are faults; any other 4xx is permanent, but for a
//     409 with Retry-After to a request that carried an idempotency key, which
//     is transient: the first copy is still being worked on.
//   - A server's wait (Retry-After, RateLimit) and its wish not to be retried
//     are read from the headers.
//   - An error of the network is transient, and known to be unsent where no
//     connection was made or the server refused the stream. A certificate that
//     does not hold is permanent.
//
// The caller's own cancellation is recognised by the pipeline, not here.
func Classify(resp *http.Response, err error) backstay.Outcome {
	return judgement{keyHeader: idempotency.DefaultHeader}.of(resp, err)
}

// judgement is how a Transport judges: [Classify], with what its target says
// about the server.
type judgement struct {
	keyHeader   string
	waitHeaders []string // further headers that name a wait in milliseconds
}

func (j judgement) of(resp *http.Response, err error) backstay.Outcome {
	switch {
	case err != nil:
		return ofError(err)
	case resp.StatusCode < 400:
		return backstay.Outcome{}
	default:
		return j.ofStatus(resp)
	}
}

func (j judgement) ofStatus(resp *http.Response) backstay.Outcome {
	signals := wire.ReadSignals(resp.Header)
	wait := wire.ServerWait(resp.Header, time.Now(), j.waitHeaders...)
	o := backstay.Outcome{
		Class: classOf(resp.StatusCode), RetryAfter: wait,
		Marks: backstay.Marks{Final: signals.Final, Unsent: signals.Unsent},
	}
	switch {
	case resp.StatusCode == http.StatusServiceUnavailable && (wait > 0 || signals.Overload):
		o.Class = backstay.Overload
	case resp.StatusCode == http.StatusConflict && wait > 0 && j.carriedKey(resp):
		o.Class = backstay.Transient
	}
	return o
}

// carriedKey reports whether the request that resp answers had an idempotency
// key.
func (j judgement) carriedKey(resp *http.Response) bool {
	return resp.Request != nil && len(resp.Request.Header[j.keyHeader]) > 0
}

func classOf(status int) backstay.Class {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return backstay.Transient
	case http.StatusTooManyRequests:
		return backstay.Overload
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return backstay.Fault
	}
	if status >= 500 {
		return backstay.Transient
	}
	return backstay.Permanent
}

func ofError(err error) backstay.Outcome {
	o := backstay.Classify(err)
	if o.Class != backstay.Transient || o.Unsent {
		return o
	}
	switch {
	case unsent(err):
		o.Unsent = true
	case permanent(err):
		o.Class = backstay.Permanent
	}
	return o
}

// unsent reports whether err says that the request reached no server: no
// connection could be made, or the server refused the stream before looking.
// net/http tells no more than that.
func unsent(err error) bool {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return true
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	stream, ok := errors.AsType[streamError](err)
	return ok && stream.Code == refusedStream
}

// streamError has the shape of net/http's unexported HTTP/2 stream error, which
// converts itself to any such struct when errors.As asks.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "http2: stream error" }

const refusedStream = 7 // RFC 9113 section 7

// permanent reports whether no other attempt can mend err.
func permanent(err error) bool {
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	return certificate
}
