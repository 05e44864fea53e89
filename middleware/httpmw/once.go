package httpmw

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
)

// mux is what knows the pattern of a request before it is served; http.ServeMux
// is one.
type mux interface {
	Handler(req *http.Request) (h http.Handler, pattern string)
}

// keyed reads the idempotency key of a request. guarded is true where its work
// is for the guard. Reads are not, whether or not they have a key; and no key
// is required of what may be repeated by its method.
func (h *Handler) keyed(v *visit) (key string, guarded bool, err error) {
	req := v.request
	if v.admission.Guard() == nil || safe(req.Method) || req.Method == http.MethodTrace || connects(req) {
		return "", false, nil
	}
	key, guarded, err = v.admission.Keyed(deadline.Header(req.Header))
	if key == "" && idempotent(req.Method) {
		guarded = false
	}
	return key, guarded, err
}

// once answers v with what the next handler answered to the first request with
// the key, which may be this one.
func (h *Handler) once(ctx context.Context, v *visit, key string) error {
	v.answer.noteKey(key)
	r, body, err := h.asks(v, key)
	if err != nil {
		return err
	}
	rec := &recording{answer: &v.answer.answer, limit: v.admission.Guard().MaxAnswer()}
	first, replayed, err := v.admission.Guard().Run(ctx, r, func(ctx context.Context) (idempotency.Answer, error) {
		req := v.request.WithContext(ctx)
		if body != nil {
			req.Body = io.NopCloser(bytes.NewReader(body))
		}
		h.next.ServeHTTP(rec, req)
		v.took(req)
		return rec.result(ctx)
	})
	switch {
	case err != nil:
		return err
	case !replayed:
		rec.send()
		return nil
	}
	k, err := decode(first.Data)
	if err == nil {
		k.give(&v.answer.answer)
	}
	return err
}

// asks returns what is asked of the guard, and the body, which was read for it;
// nil where it was not.
func (h *Handler) asks(v *visit, key string) (r idempotency.Request, body []byte, err error) {
	req := v.request
	r.Key = key
	if key == "" {
		return r, nil, nil // it is going to be refused
	}
	tenant := ""
	if h.tenant != nil {
		tenant = h.tenant(req)
	}
	r.Scope = []string{tenant, h.routeOf(req)}
	body, r.Fingerprint, err = v.admission.Guard().ReadBody(req.Body, req.Method, req.URL.RequestURI(), tenant)
	if _, refused := errors.AsType[*idempotency.Error](err); err != nil && !refused {
		err = &bodyError{err}
	}
	return r, body, err
}

// bodyError says that the body of a request could not be read.
type bodyError struct{ error }

// Unwrap returns why.
func (e *bodyError) Unwrap() error { return e.error }

// Outcome is permanent: it is the client's connection, or the client's body.
func (e *bodyError) Outcome() backstay.Outcome { return backstay.Outcome{Class: backstay.Permanent} }

// status is that of the answer.
func (e *bodyError) status() int {
	if _, tooLarge := errors.AsType[*http.MaxBytesError](e.error); tooLarge {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

// routeOf returns where the key of a request counts.
func (h *Handler) routeOf(req *http.Request) string {
	switch {
	case h.route != nil:
		return h.route(req)
	case req.Pattern != "":
		return req.Pattern
	case h.mux != nil:
		if _, pattern := h.mux.Handler(req); pattern != "" {
			return pattern
		}
	}
	return req.URL.Path // and no host: the instances of a service have many
}
