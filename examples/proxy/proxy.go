package main

import (
	"errors"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// newProxy returns a reverse proxy to backends, their hosts: Backstay's Handler
// above it, and below it Backstay's Transport over base. Close the Transport
// when the proxy is no longer used.
func newProxy(base http.RoundTripper, backends []string) (http.Handler, *httpmw.Transport, error) {
	transport, err := httpmw.NewTransport(base, target())
	if err != nil {
		return nil, nil, err
	}
	proxy := &httputil.ReverseProxy{
		Transport: &pool{transport: transport, backends: backends},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "backends"}) // the pool says which
			r.SetXForwarded()
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { httpmw.WriteError(w, err) },
	}
	handler, err := httpmw.NewHandler(proxy, middleware.StandardServer("proxy"))
	return handler, transport, err
}

// target is what protects the calls to the backends; each host has a pipeline
// of its own.
func target() middleware.Target {
	t := middleware.Internal("backends")
	// A total would cut streams: it bounds bodies, too. The timeout of an
	// attempt ends at the headers, and a body that falls silent is ended.
	t.Deadline = &deadline.Config{Total: deadline.NoTotal}
	t.HTTP.IdleBody = 30 * time.Second
	// Slow is as good as down where there are others.
	t.Breaker = &breaker.Config{
		Window: 10, MinCalls: 5,
		SlowAfter: 50 * time.Millisecond, SlowRatio: 0.5,
		OpenFor: 200 * time.Millisecond,
	}
	return t
}

// pool sends each request to the next backend whose breaker lets it pass.
type pool struct {
	transport *httpmw.Transport
	backends  []string
	turn      atomic.Uint32
}

// RoundTrip sends req to a backend. A breaker that refuses has sent nothing, so
// that another backend may be asked, as long as no body has been used up.
func (p *pool) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	first := int(p.turn.Add(1))
	for i := range p.backends {
		host := p.backends[(first+i)%len(p.backends)]
		if p.ejected(host) && i+1 < len(p.backends) {
			continue
		}
		out := req.Clone(req.Context())
		out.URL.Host, out.Host = host, host
		resp, err = p.transport.RoundTrip(out)
		if !errors.Is(err, breaker.ErrOpen) || req.Body != nil && req.Body != http.NoBody {
			break
		}
	}
	return resp, err
}

// ejected reports whether the breaker of host is open. One that is half-open
// wants to be tried.
func (p *pool) ejected(host string) bool {
	switch p.transport.Pipelines().Get(host, backstay.Now()).Breaker().State() {
	case breaker.Open, breaker.ForcedOpen:
		return true
	default:
		return false
	}
}
