package grpcmw

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/wire"
	"github.com/backstay-go/backstay/retry"
)

// ServerConfig says what a [Server] does before its handlers run. A nil
// section leaves its part out.
type ServerConfig struct {
	// Name names the server in errors, events and metrics.
	Name string `json:"name,omitempty" yaml:"name,omitempty"`
	// Deadline bounds every unary RPC, and refuses RPCs of any kind that come
	// too late to be worth a handler. gRPC carries the caller's own deadline
	// by itself.
	Deadline *deadline.IncomingConfig `json:"deadline,omitempty" yaml:"deadline,omitempty"`
	// Bulkhead bounds how many RPCs run at once, streams included, and sheds
	// the rest, those of lower priority first.
	Bulkhead *bulkhead.Config `json:"bulkhead,omitempty" yaml:"bulkhead,omitempty"`
	// Idempotency runs unary RPCs that carry a key once. It needs [ServerStore].
	Idempotency *idempotency.GuardConfig `json:"idempotency,omitempty" yaml:"idempotency,omitempty"`
	// KeyHeader names the metadata that carries the key. Default:
	// idempotency-key.
	KeyHeader string `json:"key_header,omitempty" yaml:"key_header,omitempty"`
	// RetryNested lets handlers retry downstream also for RPCs that are
	// retries themselves. Default: they do not, because layers that retry
	// multiply.
	RetryNested bool `json:"retry_nested,omitempty" yaml:"retry_nested,omitempty"`
}

// Server is what stands between grpc-go and the handlers: it takes up
// deadlines, sheds load, does keyed work once, keeps retries from multiplying,
// and turns panics into answers. It is safe for concurrent use and owns no
// goroutine.
type Server struct {
	scope     *backstay.Scope
	unary     *deadline.Incoming
	stream    *deadline.Incoming // without a cap
	bulkhead  *bulkhead.Bulkhead
	guard     *idempotency.Guard
	keyHeader string
	nested    bool
	passed    methods
	priority  func(ctx context.Context, method string) bulkhead.Priority // nil: none is given
	tenant    func(ctx context.Context) string                           // nil: one for all
}

// ServerOption gives a [Server] a collaborator.
type ServerOption func(*serverBuilder)

type serverBuilder struct {
	server   *Server
	observer backstay.Observer
	store    idempotency.Store
}

// ServerObserver tells o of refusals, replays and panics.
func ServerObserver(o backstay.Observer) ServerOption {
	return func(b *serverBuilder) { b.observer = backstay.Observers(b.observer, o) }
}

// ServerStore is where the idempotency keys are kept: one store for all the
// processes of a service.
func ServerStore(s idempotency.Store) ServerOption {
	return func(b *serverBuilder) { b.store = s }
}

// ServerPriority says which RPCs are shed first, if the bulkhead is configured
// with priorities.
func ServerPriority(f func(ctx context.Context, method string) bulkhead.Priority) ServerOption {
	return func(b *serverBuilder) { b.server.priority = f }
}

// ServerTenant says on whose behalf an RPC comes, so that the idempotency keys
// of one tenant mean nothing for another. Without it all callers share them.
func ServerTenant(f func(ctx context.Context) string) ServerOption {
	return func(b *serverBuilder) { b.server.tenant = f }
}

// ServerPassThrough names methods, "/pkg.Service/Method", or services,
// "/pkg.Service/", that the Server does nothing about, beside health checks
// and reflection.
func ServerPassThrough(names ...string) ServerOption {
	return func(b *serverBuilder) { b.server.passed.add(names) }
}

// NewServer returns a Server, or every fault of the configuration.
func NewServer(c ServerConfig, options ...ServerOption) (*Server, error) {
	b := serverBuilder{server: &Server{nested: c.RetryNested, keyHeader: wire.HeaderIdempotencyKey}}
	b.server.passed.add(untouched)
	for _, o := range options {
		o(&b)
	}
	if c.KeyHeader != "" {
		b.server.keyHeader = c.KeyHeader
	}
	b.server.keyHeader = strings.ToLower(b.server.keyHeader)
	b.server.scope = &backstay.Scope{Policy: c.Name, Observer: b.observer}
	if err := b.build(c); err != nil {
		return nil, backstay.Under("grpcmw", err)
	}
	return b.server, nil
}

// build makes every part that c has a section for, or returns all faults.
func (b *serverBuilder) build(c ServerConfig) error {
	s := b.server
	all := []error{s.passed.validate("pass_through"), backstay.Check(
		backstay.Setting{
			Path: "idempotency.store", Value: "none", Valid: c.Idempotency == nil || b.store != nil,
			Allowed: "must be given by grpcmw.ServerStore",
		},
		backstay.Setting{
			Path: "key_header", Value: c.KeyHeader, Valid: c.KeyHeader == "" || isKey(c.KeyHeader),
			Allowed: "must be letters, digits and -_. and not end in -bin, which is for binary values",
		},
	)}
	var err error
	if c.Deadline != nil {
		s.unary, err = deadline.NewIncoming(*c.Deadline, s.scope)
		all = append(all, err)
		uncapped := *c.Deadline
		uncapped.Cap = deadline.NoCap
		if err == nil {
			s.stream, err = deadline.NewIncoming(uncapped, s.scope)
			all = append(all, err)
		}
	}
	if c.Bulkhead != nil {
		s.bulkhead, err = bulkhead.New(*c.Bulkhead, bulkhead.WithScope(s.scope))
		all = append(all, err)
	}
	if c.Idempotency != nil && b.store != nil {
		s.guard, err = idempotency.NewGuard(*c.Idempotency, b.store, idempotency.WithScope(s.scope))
		all = append(all, err)
	}
	return errors.Join(all...)
}

// isKey reports whether name can be the key of textual metadata.
func isKey(name string) bool {
	for _, r := range strings.ToLower(name) {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r) {
			return false
		}
	}
	return !strings.HasSuffix(strings.ToLower(name), "-bin")
}

// ServerOptions returns what puts the Server into a grpc.Server: its two
// interceptors, outermost of those that are given afterwards. Authentication
// belongs before them where [ServerTenant] needs it.
func (s *Server) ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(s.Unary),
		grpc.ChainStreamInterceptor(s.Stream),
	}
}

// Bulkhead returns the Server's bulkhead; nil if it has none.
func (s *Server) Bulkhead() *bulkhead.Bulkhead { return s.bulkhead }

// enter takes up what the caller tells: its deadline, the number of the
// attempt, and the priority that its RPC has here. Call cancel on every path.
func (s *Server) enter(ctx context.Context, method string, in *deadline.Incoming) (_ context.Context, cancel context.CancelFunc, err error) {
	arrived := backstay.Now()
	md, _ := metadata.FromIncomingContext(ctx)
	ctx, cancel, err = deadline.Extract(ctx, carrier(md), in, arrived)
	if err != nil {
		return ctx, cancel, err
	}
	if !s.nested && attemptOf(md) > 1 {
		ctx = retry.Suppress(ctx)
	}
	if s.priority != nil {
		ctx = bulkhead.WithPriority(ctx, s.priority(ctx, method))
	}
	return ctx, cancel, nil
}

// attemptOf returns which attempt an RPC is, from 1.
func attemptOf(md metadata.MD) int {
	return max(wire.Attempt(md[headerAttempt]), wire.PreviousTries(md[wire.HeaderGRPCPreviousTries]))
}

// carrier makes incoming metadata a deadline.Carrier.
type carrier metadata.MD

// Values returns all values under name.
func (c carrier) Values(name string) []string { return metadata.MD(c).Get(name) }

// Set puts value in the place of all values under name.
func (c carrier) Set(name, value string) { metadata.MD(c).Set(name, value) }
