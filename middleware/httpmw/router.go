package httpmw

import (
	"context"
	"errors"
	"net/http"

	"github.com/backstay-go/backstay/middleware"
)

// Router is an http.RoundTripper for all the targets of a policy file: it sends
// each request through the [Transport] of the target that the request belongs
// to, by its host, method and path. What belongs to none has the policies of
// [middleware.Standard], under the name [middleware.Unmatched].
//
// It follows targets that change: the next request goes by the new version,
// and the state of what is as it was is kept; see [middleware.Registry.Apply].
// Fallbacks and the bounds of the keys stay those that a target began with,
// which the observer is told. It is safe for concurrent use.
type Router struct {
	next   http.RoundTripper
	routes *middleware.Routes[*Transport]
}

// NewRouter returns a Router over the base transport next, http.DefaultTransport
// if it is nil. The options are those of each of its Transports; with [WithBase]
// each has a base transport of its own. It returns every fault of every target.
//
//	live, err := policyfile.Watch(ctx, "policies.yaml")
//	if err != nil {
//		return err
//	}
//	router, err := httpmw.NewRouter(nil, live)
func NewRouter(next http.RoundTripper, targets middleware.Targets, options ...Option) (*Router, error) {
	if next == nil {
		next = http.DefaultTransport
	}
	routes, err := middleware.NewRoutes(targets, func(t middleware.Target) (*Transport, error) {
		return NewTransport(next, t, options...)
	})
	if err != nil {
		return nil, err
	}
	return &Router{next: next, routes: routes}, nil
}

// RoundTrip sends req through the Transport of its target.
func (r *Router) RoundTrip(req *http.Request) (*http.Response, error) {
	if malformed(req) {
		return r.next.RoundTrip(req) // which says what is wrong, and closes the body
	}
	method := req.Method
	if method == "" {
		method = http.MethodGet
	}
	t, err := r.routes.Find(middleware.Request{Host: req.URL.Host, Method: method, Path: req.URL.Path})
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	return t.RoundTrip(req)
}

// All calls f with the Transport of each target, until f returns false. It has
// the shape of an iterator: for name, transport := range router.All.
func (r *Router) All(f func(name string, t *Transport) bool) { r.routes.All(f) }

// Registries calls f with the pipelines of each target, until f returns false:
// those that there are now, so whoever shows or measures them asks again. See
// console.Console.AddAll and otelmw.All.
func (r *Router) Registries(f func(name string, p *middleware.Registry) bool) {
	r.routes.Registries(f)
}

// CloseIdleConnections closes those of the base transports, if they can.
func (r *Router) CloseIdleConnections() {
	for _, t := range r.All {
		t.CloseIdleConnections()
	}
}

// Close refuses further requests and waits for what the Transports still own;
// see [Transport.Close].
func (r *Router) Close(ctx context.Context) error {
	var faults error
	for _, t := range r.All {
		faults = errors.Join(faults, t.Close(ctx))
	}
	return faults
}
