package httpmw

import (
	"context"
	"maps"
	"net/http"

	"github.com/backstay-go/backstay/idempotency"
)

// withKey gives req its idempotency key: the one that its caller set as a
// header, the one in its context, or where the target says that it honours
// keys, a new one. Keys are made for requests that need one to be repeated. It
// returns req itself, or a copy with the header, and a context that holds the
// key.
func (t *Transport) withKey(req *http.Request) (context.Context, *http.Request) {
	ctx := req.Context()
	if v := req.Header[t.keys.Header()]; len(v) > 0 {
		if key, err := idempotency.ParseFields(v); err == nil {
			ctx, _ = idempotency.Ensure(idempotency.WithKey(ctx, key), t.keys)
		}
		return ctx, req
	}
	if idempotent(req.Method) && idempotency.KeyFrom(ctx) == "" {
		return ctx, req
	}
	ctx, key := idempotency.Ensure(ctx, t.keys)
	if key == "" {
		return ctx, req
	}
	out := new(http.Request)
	*out = *req
	out.Header = maps.Clone(req.Header) // shallow: the values are not changed
	out.Header[t.keys.Header()] = []string{t.keys.Format(key)}
	return ctx, out
}

// carriesKey reports whether req has an idempotency key.
func (t *Transport) carriesKey(req *http.Request) bool { return len(req.Header[t.keys.Header()]) > 0 }
