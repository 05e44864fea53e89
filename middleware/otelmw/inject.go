package otelmw

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/propagation"
)

// Inject hands the fields that carry the span of ctx to set: for metadata of
// gRPC, headers of messages, and whatever is no http.Request, for which there
// is [Observer.Transport].
func (o *Observer) Inject(ctx context.Context, set func(field, value string)) {
	o.propagator.Inject(ctx, setter(set))
}

// setter is a carrier that nobody reads.
type setter func(field, value string)

var _ propagation.TextMapCarrier = setter(nil)

// Get returns nothing.
func (setter) Get(string) string { return "" }

// Set hands on a field.
func (f setter) Set(field, value string) { f(field, value) }

// Keys returns nothing.
func (setter) Keys() []string { return nil }

// traced returns req with the fields that carry the span of its context. req
// stays as it is, and is returned itself where there are none.
func (o *Observer) traced(req *http.Request) *http.Request {
	out := req
	o.Inject(req.Context(), func(field, value string) {
		if out == req {
			out = req.WithContext(req.Context()) // a shallow copy
			if out.Header = req.Header.Clone(); out.Header == nil {
				out.Header = make(http.Header)
			}
		}
		out.Header.Set(field, value)
	})
	return out
}
