package httpmw

import (
	"errors"
	"net/http"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
)

// Option gives a [Transport] a collaborator.
type Option func(*builder)

// builder is what the options collect.
type builder struct {
	transport *Transport
	pipelines []middleware.Option
	rungs     []func(*Transport) Rung
	base      func(middleware.Target, http.RoundTripper) http.RoundTripper // nil: as given
	faults    error
}

// Rung is one fallback for HTTP: see package fallback, whose
// For[*http.Request, *http.Response] makes them.
type Rung = fallback.Rung[*http.Request, *http.Response]

// WithObserver tells o of everything that happens; if it is a
// [backstay.Tracer] too, the contexts of calls and attempts come from it.
func WithObserver(o backstay.Observer) Option {
	return func(b *builder) { b.pipelines = append(b.pipelines, middleware.WithObserver(o)) }
}

// WithRetryBudget makes the retries of all keys, and of every Transport that
// is given the same budget, spend from b.
func WithRetryBudget(budget *retry.Budget) Option {
	return func(b *builder) { b.pipelines = append(b.pipelines, middleware.WithRetryBudget(budget)) }
}

// WithKey says which pipeline a request goes through: f returns a bounded
// name, such as the host with the template of the route. Never a raw path: each
// key has a breaker, a bulkhead and a budget of its own. The default is the
// host of the URL, which also serves where f panics.
func WithKey(f func(*http.Request) string) Option {
	return func(b *builder) { b.transport.key = f }
}

// WithBase has f choose the base transport of each target, once, when its
// Transport is made: next is the one that was given, and what f returns is what
// attempts are sent through. So the targets of a [Router] may have a pool of
// connections, a proxy, or the faults of package chaos, each its own. f may be
// called while calls of other targets wait for it, and must not call the Router.
// Where it returns nil, the base transport stays the one that was given.
func WithBase(f func(t middleware.Target, next http.RoundTripper) http.RoundTripper) Option {
	return func(b *builder) { b.base = f }
}

// WithClassifier lets f overrule how an attempt's end is judged: it gets what
// the base transport returned, and the judgement of [Classify]. It may be
// called several times for one attempt, by several goroutines at once, and
// must not read the body. Where it panics, the judgement of [Classify] stands.
func WithClassifier(f func(*http.Response, error, backstay.Outcome) backstay.Outcome) Option {
	return func(b *builder) { b.transport.classify = f }
}

// WithStaleCache adds a fallback that answers with the last good response.
func WithStaleCache(c StaleCache) Option {
	return func(b *builder) {
		b.rungs = append(b.rungs, c.rung)
		b.faults = errors.Join(b.faults, backstay.Under("stale_cache", c.validate()))
	}
}

// WithFallback adds fallbacks, best first, below those added before.
func WithFallback(rungs ...Rung) Option {
	return func(b *builder) {
		for _, r := range rungs {
			b.rungs = append(b.rungs, func(*Transport) Rung { return r })
		}
	}
}
