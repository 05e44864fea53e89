package httpmw

import (
	"net/http"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
)

// HandlerOption gives a [Handler] a collaborator.
type HandlerOption func(*handlerBuilder)

type handlerBuilder struct {
	handler  *Handler
	observer backstay.Observer
	store    idempotency.Store
}

// ServerObserver tells o of refusals, replays, timeouts, headers that are not
// usable, and panics of handlers that were left behind.
func ServerObserver(o backstay.Observer) HandlerOption {
	return func(b *handlerBuilder) { b.observer = backstay.Observers(b.observer, o) }
}

// ServerStore is where the idempotency keys are kept: one store for all the
// processes of a service.
func ServerStore(s idempotency.Store) HandlerOption {
	return func(b *handlerBuilder) { b.store = s }
}

// ServerPriority says which requests are shed first, if the bulkhead is
// configured with priorities. It wins over a priority_header. Its panic is one
// of the handler.
func ServerPriority(f func(*http.Request) bulkhead.Priority) HandlerOption {
	return func(b *handlerBuilder) { b.handler.priority = f }
}

// ServerTenant says on whose behalf a request comes, so that the idempotency
// keys of one tenant mean nothing for another. Without it all callers share
// them: whoever guesses a key, and the request that belongs to it, is given the
// answer.
func ServerTenant(f func(*http.Request) string) HandlerOption {
	return func(b *handlerBuilder) { b.handler.tenant = f }
}

// ServerRoute says where an idempotency key counts: the same key on another
// route is another key. The default is the pattern that the request matched or
// that a next handler such as http.ServeMux is going to match, and without one,
// as where the mux is wrapped, the path. The host is no part of it, because a
// repetition may reach another instance under another one; a Handler that
// serves several sites puts it in here, or into [ServerTenant].
func ServerRoute(f func(*http.Request) string) HandlerOption {
	return func(b *handlerBuilder) { b.handler.route = f }
}

// NewHandler returns a Handler that lets through to next what s allows, or
// every fault of the configuration. A nil next is http.DefaultServeMux, as of an
// http.Server.
//
// Put it inside of what must see every request, such as access logs, metrics
// and authentication, and around a whole http.ServeMux or a single route of it.
func NewHandler(next http.Handler, s middleware.Server, options ...HandlerOption) (*Handler, error) {
	if next == nil {
		next = http.DefaultServeMux
	}
	b := handlerBuilder{handler: &Handler{next: next}}
	for _, o := range options {
		o(&b)
	}
	entrance, err := middleware.NewEntrance(s, b.store, b.observer)
	if err != nil {
		return nil, err
	}
	b.handler.entrance = entrance
	b.handler.serve = b.handler.work
	b.handler.mux, _ = next.(mux)
	return b.handler, nil
}
