package httpmw

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/wire"
)

// recording is the http.ResponseWriter of a handler that works for a key. It
// holds the answer until it is complete, and kept, because a caller that has
// it will not come back. An answer that the handler flushes, or that is too
// large to be kept, goes out as it comes.
type recording struct {
	answer *answer
	limit  int64 // of the body that is kept

	header  http.Header // the handler's
	status  int         // 0: nothing was said
	sent    http.Header // header at the time of status
	body    bytes.Buffer
	through bool // what was recorded has been sent; the rest is sent at once
	over    bool // it is too large to be kept
}

// Header returns the headers of the answer.
func (r *recording) Header() http.Header {
	if r.header == nil {
		r.header = r.answer.Header().Clone()
		if r.header == nil {
			r.header = make(http.Header)
		}
	}
	return r.header
}

// WriteHeader begins the answer. Provisional answers are not passed on.
func (r *recording) WriteHeader(status int) {
	switch {
	case provisional(status) || r.status != 0:
	case status < 200 || status > 999:
		panic("httpmw: a keyed request cannot be answered with status " + strconv.Itoa(status))
	default:
		r.status, r.sent = status, r.Header().Clone()
	}
}

// Write records a piece of the answer, and sends it if it cannot wait.
func (r *recording) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if !hasBody(r.status) {
		return 0, http.ErrBodyNotAllowed
	}
	if !r.over && int64(r.body.Len()+len(p)) > r.limit {
		if err := r.pass(); err != nil {
			return 0, err
		}
		r.over, r.body = true, bytes.Buffer{}
	}
	if !r.over {
		_, _ = r.body.Write(p) // never fails
	}
	if !r.through {
		return len(p), nil
	}
	n, err := r.answer.Write(p)
	if err != nil && !r.over {
		return len(p), nil // the caller has gone, and will come back for it
	}
	return n, err
}

// hasBody reports whether an answer with status may have one.
func hasBody(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}

// pass sends what was recorded so far; the rest will follow as it comes.
func (r *recording) pass() error {
	if r.through {
		return nil
	}
	r.through = true
	return r.deliver(false)
}

// deliver sends what was recorded, which may be all of it.
func (r *recording) deliver(complete bool) error {
	h := r.answer.Header()
	clear(h)
	maps.Copy(h, r.sent)
	if complete {
		setLength(h, r.status, r.body.Len())
	}
	r.answer.WriteHeader(r.status)
	if r.body.Len() == 0 {
		return nil
	}
	_, err := r.answer.Write(r.body.Bytes())
	return err
}

// setLength says how long an answer is that is known as a whole, so that the
// first and its repetitions look the same on the wire.
func setLength(h http.Header, status, n int) {
	if hasBody(status) && h["Content-Length"] == nil && h["Trailer"] == nil && h["Transfer-Encoding"] == nil {
		h["Content-Length"] = []string{strconv.Itoa(n)}
	}
}

// Flush sends what was written so far.
func (r *recording) Flush() { _ = r.FlushError() }

// FlushError sends what was written so far.
func (r *recording) FlushError() error {
	r.WriteHeader(http.StatusOK)
	if err := r.pass(); err != nil {
		return err
	}
	return r.answer.FlushError()
}

// SetReadDeadline does nothing: the request has been read.
func (r *recording) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline bounds the writing of the answer.
func (r *recording) SetWriteDeadline(end time.Time) error { return r.answer.SetWriteDeadline(end) }

// EnableFullDuplex does nothing: the request has been read.
func (r *recording) EnableFullDuplex() error { return nil }

// result is the answer for the guard to keep. A handler that returned without a
// word because its context had ended has not answered.
func (r *recording) result(ctx context.Context) (idempotency.Answer, error) {
	if r.status == 0 && ctx.Err() != nil {
		return idempotency.Answer{}, backstay.ContextError(ctx)
	}
	r.WriteHeader(http.StatusOK)
	switch {
	case !lasting(r.status):
		return idempotency.Answer{Keep: idempotency.KeepNothing}, nil
	case r.over:
		return idempotency.Answer{Keep: idempotency.KeepMark}, nil
	}
	k := kept{
		Status: r.status, Header: wire.Bytes(r.own()), Trailer: wire.Bytes(r.trailer()),
		Flushed: r.through, body: r.body.Bytes(),
	}
	return idempotency.Answer{Data: k.encode()}, nil
}

// own returns the headers that are the handler's, and not of those outside, who
// will set theirs anew.
func (r *recording) own() http.Header {
	h := maps.Clone(r.sent)
	for name, values := range r.answer.outer {
		if slices.Equal(h[name], values) {
			delete(h, name)
		}
	}
	return h
}

// lasting reports whether an answer is a verdict on the request, which stays
// the same however often it comes. Those that depend on who asks, on load, or
// on the server's health are not.
func lasting(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return false
	default:
		class := classOf(status)
		return status < http.StatusBadRequest || class == backstay.Permanent
	}
}

// send sends what has not been sent.
func (r *recording) send() {
	if !r.through {
		_ = r.deliver(true) // a caller that has gone will come back for it
	}
	maps.Copy(r.answer.Header(), r.trailer())
}

// trailer returns the headers that follow the body.
func (r *recording) trailer() http.Header {
	var t http.Header
	put := func(name string) {
		if values, ok := r.header[name]; ok {
			if t == nil {
				t = make(http.Header)
			}
			t[name] = values
		}
	}
	for _, list := range r.sent["Trailer"] {
		for name := range strings.SplitSeq(list, ",") {
			put(http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	for name := range r.header {
		if strings.HasPrefix(name, http.TrailerPrefix) {
			put(name)
		}
	}
	return t
}
