package httpmw

import (
	"context"
	"net/http"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/internal/wire"
	"github.com/backstay-go/backstay/middleware"
)

// Handler is an http.Handler that stands in front of another one: it takes up
// deadlines, sheds load, does keyed work once, and keeps retries from
// multiplying. It is safe for concurrent use and owns no goroutine but those of
// handlers that have outlasted their timeout.
type Handler struct {
	next     http.Handler
	entrance *middleware.Entrance
	priority func(*http.Request) bulkhead.Priority // nil: none is given
	tenant   func(*http.Request) string            // nil: one for all
	route    func(*http.Request) string            // nil: the pattern
	mux      mux                                   // next, if it is one; else nil
	serve    backstay.Call[*visit, *visit]         // work, bound once
}

// ServeHTTP lets the next handler answer req, or answers itself why not.
func (h *Handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	a := h.entrance.Now()
	v := newVisit(w, req, a)
	_, err := middleware.Admit(v.relay.Under(req.Context()), a, h.arrival(v), served{}, v, h.serve)
	v.end(err)
}

// arrival returns what is known of v's request before its handler runs.
func (h *Handler) arrival(v *visit) middleware.Arrival {
	req := v.request
	in := middleware.Arrival{
		Header:  deadline.Header(req.Header),
		Attempt: wire.Attempt(req.Header[wire.HeaderAttempt]),
		Stream:  connects(req),
		Limits:  &v.limits,
	}
	if h.priority != nil {
		in.Priority, in.Ranked = h.priority(req), true
	}
	return in
}

// work lets the next handler answer, under a permit and within the limits.
func (h *Handler) work(ctx context.Context, v *visit) (*visit, error) {
	key, guarded, err := h.keyed(v)
	switch {
	case err != nil:
		return v, err
	case guarded:
		return v, h.once(ctx, v, key)
	}
	req := v.request.WithContext(ctx)
	h.next.ServeHTTP(v.writer(), req)
	v.took(req)
	return v, v.unanswered(ctx)
}

// Apply puts s in force for the requests that come from now on; those under way
// go by what they began with. State of what does not change is kept. The error
// has every fault, and nothing has changed; see [middleware.Entrance.Apply].
func (h *Handler) Apply(s middleware.Server) error { return h.entrance.Apply(s) }

// Bulkhead returns the Handler's bulkhead in force; nil if it has none.
func (h *Handler) Bulkhead() *bulkhead.Bulkhead { return h.entrance.Now().Bulkhead() }

// Statuses returns the state of the Handler's bulkhead, so that otelmw's
// Observer.Watch takes the Handler for its gauges.
func (h *Handler) Statuses() []middleware.Status { return h.entrance.Statuses() }

// Close waits for handlers that have outlasted their timeout, or until ctx
// ends. Shut the http.Server down first.
func (h *Handler) Close(ctx context.Context) error { return h.entrance.Close(ctx) }

// served is the exchange of a server: only how its bulkhead judges answers.
type served struct{}

// Classify judges the status that the handler answered with. Streams tell
// nothing of the load, however long they last.
func (served) Classify(v *visit, err error) backstay.Outcome {
	switch {
	case err != nil:
		return backstay.Classify(err)
	case v.answer.streams:
		return backstay.Outcome{Class: backstay.Canceled}
	case v.answer.status == http.StatusServiceUnavailable:
		return backstay.Outcome{Class: backstay.Overload}
	case v.answer.status < http.StatusBadRequest:
		return backstay.Outcome{}
	default:
		return backstay.Outcome{Class: classOf(v.answer.status)}
	}
}

// Repeat allows nothing: a server does not repeat.
func (served) Repeat(*visit, backstay.Outcome) error { return http.ErrNotSupported }

// Fork returns v: an abandoned handler goes on with what it has.
func (served) Fork(v *visit, _ int) (*visit, error) { return v, nil }

// Bind cancels c at once: a handler that has returned has answered.
func (served) Bind(v *visit, c backstay.Canceler) *visit {
	c.Cancel()
	return v
}

// Discard does nothing: what a late handler writes goes nowhere.
func (served) Discard(*visit) {}
