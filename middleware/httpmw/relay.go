package httpmw

import (
	"context"
	"net/http"

	"github.com/backstay-go/backstay/middleware"
)

// relay tells the handler that made a call, where a [Handler] stands in front of
// it, whether that must not be retried further up either.
func (t *Transport) relay(ctx context.Context, resp *http.Response, err error) {
	if r := middleware.RelayFrom(ctx); r != nil {
		r.Note(t.now().judgement.of(resp, err))
	}
}
