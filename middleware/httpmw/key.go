package httpmw

import (
	"context"
	"fmt"
	"maps"
	"net/http"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
)

// withKey gives req its idempotency key: the one that its caller set as a
// header, the one in its context, or where the target says that it honours
// keys, a new one, which in keyed work follows from the key of the work. Keys are
// made for requests that need one to be repeated. It returns req itself, or a
// copy with the header, and a context that holds the key. The error says that
// the key of the context cannot be sent.
func (t *Transport) withKey(req *http.Request) (context.Context, *http.Request, error) {
	ctx, keys := req.Context(), t.now().keys
	if v := req.Header[keys.Header()]; len(v) > 0 {
		if key, err := idempotency.ParseFields(v); err == nil {
			ctx, _ = idempotency.Ensure(idempotency.WithKey(ctx, key), keys)
		}
		return ctx, req, nil
	}
	if idempotent(req.Method) && idempotency.KeyFrom(ctx) == "" {
		return ctx, req, nil
	}
	ctx, key := idempotency.Ensure(ctx, keys, t.pipelines.Scope().Policy, req.Method, req.URL.Path)
	if key == "" {
		return ctx, req, nil
	}
	if err := idempotency.CheckKey(key); err != nil {
		return ctx, req, fmt.Errorf("httpmw: %w: %w", backstay.ErrRejected, err)
	}
	out := new(http.Request)
	*out = *req
	out.Header = maps.Clone(req.Header) // shallow: the values are not changed
	out.Header[keys.Header()] = []string{keys.Format(key)}
	return ctx, out, nil
}

// carriesKey reports whether req has an idempotency key. A field that holds
// none, such as an empty one, is no promise that req may be repeated.
func (t *Transport) carriesKey(req *http.Request) bool {
	key, err := idempotency.ParseFields(req.Header[t.now().keys.Header()])
	return err == nil && key != ""
}
