package httpmw

import (
	"context"
	"maps"
	"net/http"
	"strconv"

	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/internal/wire"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
)

// headers is what an attempt tells the next service: how long the caller still
// waits, and from the second attempt on, which one it is.
type headers struct {
	told  middleware.Propagation
	codec deadline.Codec
}

func newHeaders(p middleware.Propagation) headers {
	return headers{told: p, codec: p.Codec()}
}

// onto returns req under ctx, with the headers that its host is told. req
// stays as it is: a transport may still hold it after its RoundTrip.
func (h *headers) onto(ctx context.Context, req *http.Request) *http.Request {
	if h.told.Tells(req.URL.Host) {
		return h.tell(ctx, req.WithContext(ctx))
	}
	if ctx != req.Context() {
		return req.WithContext(ctx)
	}
	return req
}

// tell sets the headers on a copy of out's.
func (h *headers) tell(ctx context.Context, out *http.Request) *http.Request {
	n := retry.Attempt(ctx)
	_, bounded := ctx.Deadline()
	if n == 1 && !bounded {
		return out
	}
	out.Header = maps.Clone(out.Header) // shallow: the values are not changed
	if bounded {
		deadline.Inject(ctx, deadline.Header(out.Header), h.codec, 0)
	}
	if n > 1 {
		out.Header[wire.HeaderAttempt] = []string{strconv.Itoa(n)}
	}
	return out
}
