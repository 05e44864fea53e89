package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/internal/guard"
)

// DefaultDrainTimeout is how long draining waits for methods to end.
const DefaultDrainTimeout = 30 * time.Second

// TokenHeader is the field of the answer to inspect that has a token for those
// who may drain, and of the request to drain that has it in turn.
const TokenHeader = "X-Actors-Token" //nolint:gosec // the name of a field

// patience is how long inspect waits for partitions that are busy.
const patience = 2 * time.Second

// Handler is an http.Handler that tells of a node. It is safe for concurrent
// use. Make one with [New].
type Handler struct {
	node    *actors.Node
	guard   *guard.Guard
	timeout time.Duration

	draining sync.Once
	drained  chan struct{} // closed: it is, and ended in fault
	fault    error
}

// Option changes what a [Handler] does.
type Option func(*Handler)

// WithDrain lets those drain the node whom authorize permits; it is asked for
// every request, and may be called by several goroutines at once. Without this
// option nobody may.
func WithDrain(authorize func(*http.Request) bool) Option {
	return func(h *Handler) { h.guard.Authorize = authorize }
}

// WithDrainTimeout is how long draining lets methods run on before it cuts them
// short, in place of [DefaultDrainTimeout]. It must be positive.
func WithDrainTimeout(d time.Duration) Option { return func(h *Handler) { h.timeout = d } }

// New returns a Handler that tells of node, or what is wrong with its options.
func New(node *actors.Node, options ...Option) (*Handler, error) {
	if node == nil {
		return nil, errors.New("admin: there is no node")
	}
	h := &Handler{node: node, timeout: DefaultDrainTimeout, drained: make(chan struct{}), guard: guard.New(guard.Words{
		Name: "admin", Header: TokenHeader,
		Off:    "draining is off; see admin.WithDrain",
		Source: "the one of the answer to inspect",
		Stale:  "the token is of another process; inspect it again",
	})}
	for _, set := range options {
		set(h)
	}
	err := backstay.Check(backstay.Setting{Path: "drain_timeout", Value: h.timeout, Valid: h.timeout > 0, Allowed: "must be positive"})
	if err != nil {
		return nil, backstay.Under("admin", err)
	}
	return h, nil
}

// ServeHTTP answers what the last element of the path asks for.
func (h *Handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
	last := req.URL.Path[strings.LastIndexByte(req.URL.Path, '/')+1:]
	switch {
	case last == "drain":
		h.serveDrain(w, req)
	case req.Method != http.MethodGet && req.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "admin: only GET and HEAD", http.StatusMethodNotAllowed)
	case last == "inspect":
		h.serveInspect(w, req)
	case last == "health":
		h.serveHealth(w)
	default:
		http.Error(w, "admin: there is inspect, health and drain", http.StatusNotFound)
	}
}

func (h *Handler) serveInspect(w http.ResponseWriter, req *http.Request) {
	ctx, cancel := context.WithTimeout(req.Context(), patience)
	defer cancel()
	if token := h.guard.Token(req); token != "" {
		w.Header().Set(TokenHeader, token)
	}
	answer(w, http.StatusOK, h.node.Inspect(ctx))
}

// Health is the answer to health.
type Health struct {
	// Ready says that the node owns everything that it was assigned.
	Ready bool `json:"ready"`
	// Problems are why not.
	Problems []string `json:"problems,omitempty"`
}

func (h *Handler) serveHealth(w http.ResponseWriter) {
	err := h.node.Health()
	if err == nil {
		answer(w, http.StatusOK, Health{Ready: true})
		return
	}
	answer(w, http.StatusServiceUnavailable, Health{Problems: strings.Split(err.Error(), "\n")})
}

// Drained is the answer to drain.
type Drained struct {
	Drained bool `json:"drained"`
	// Problems are what did not end well, such as methods that were cut short.
	Problems []string `json:"problems,omitempty"`
}

func (h *Handler) serveDrain(w http.ResponseWriter, req *http.Request) {
	if h.guard.Refuse(w, req) {
		return
	}
	// A server's own WriteTimeout is for answers that are ready: it is put off.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(h.timeout + patience))
	if err := h.drain(req.Context()); err != nil {
		answer(w, http.StatusInternalServerError, Drained{Problems: strings.Split(err.Error(), "\n")})
		return
	}
	answer(w, http.StatusOK, Drained{Drained: true})
}

// drain hands the actors over, on the goroutine of the first who asks, whoever
// is still there to hear of it. The others wait for that until they leave.
func (h *Handler) drain(left context.Context) error {
	first := false
	h.draining.Do(func() { first = true })
	if first {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(left), h.timeout)
		defer cancel()
		h.fault = h.node.Stop(ctx)
		close(h.drained)
		return h.fault
	}
	select {
	case <-h.drained:
		return h.fault
	case <-left.Done():
		return context.Cause(left)
	}
}

// answer writes v as JSON.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // who is gone needs no answer
}
