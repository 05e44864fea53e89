package grpcmw_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/grpcmw"
	"github.com/backstay-go/backstay/retry"
)

type spanKey struct{}

// tracer puts a span's name into contexts, as an adapter to OpenTelemetry does.
type tracer struct{ log }

func (tr *tracer) Start(ctx context.Context, e backstay.Event) (context.Context, func(backstay.Event)) {
	name := "call"
	if e.Kind == backstay.AttemptStarted {
		name = "attempt"
	}
	return context.WithValue(ctx, spanKey{}, name), func(backstay.Event) {}
}

// instrument is a stats handler, as that of otelgrpc is one.
type instrument struct {
	mu      sync.Mutex
	parents []any
	begun   int
	ended   int
}

func (i *instrument) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.parents = append(i.parents, ctx.Value(spanKey{}))
	return ctx
}

func (i *instrument) HandleRPC(_ context.Context, s stats.RPCStats) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch s.(type) {
	case *stats.Begin:
		i.begun++
	case *stats.End:
		i.ended++
	}
}

func (i *instrument) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (i *instrument) HandleConn(context.Context, stats.ConnStats)                       {}

func TestAnInstrumentSeesEveryAttemptUnderItsSpan(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var i instrument
		c := client(t, retries(), reads(), grpcmw.WithObserver(new(tracer)))
		e := failing(2, down)
		e.list = lister(nil).list
		cc := dial(t, e.serve(t), c, grpc.WithStatsHandler(&i))
		if _, err := call(t.Context(), cc, "x"); err != nil {
			t.Fatal(err)
		}
		cs, err := open(t.Context(), cc, "x")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = receive(cs)
		synctest.Wait()
		i.mu.Lock()
		defer i.mu.Unlock()
		if !slices.Equal(i.parents, []any{"attempt", "attempt", "attempt", "attempt"}) || i.begun != 4 || i.ended != 4 {
			t.Errorf("%v, %d begun, %d ended", i.parents, i.begun, i.ended)
		}
	})
}

// Acceptance case C55.
func TestC55_OneClientServesAThousandGoroutines(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := &echo{}
		e.say = func(ctx context.Context, req *text) (*text, error) {
			if e.came(ctx)%10 == 0 {
				return nil, down
			}
			return req, wait(ctx, time.Duration(e.calls.Load()%20)*time.Millisecond)
		}
		e.list = func(req *text, ss grpc.ServerStream) error {
			if e.came(ss.Context())%10 == 0 {
				return down
			}
			return ss.SendMsg(req)
		}
		target := middleware.Standard("test")
		target.Retry = &retry.Config{Budget: retry.NoBudget, MaxAttempts: 10}
		target.Hedge = &hedge.Config{Delay: 10 * time.Millisecond}
		target.Bulkhead, target.Breaker = nil, nil
		cc := connect(t, e, target, reads())
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				if got, err := call(t.Context(), cc, "mine"); got != "mine" || err != nil {
					t.Errorf("got %q, %v", got, err)
				}
				cs, err := open(t.Context(), cc, "mine")
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := receive(cs); !slices.Equal(got, []string{"mine"}) || err != nil {
					t.Errorf("got %q, %v", got, err)
				}
			})
		}
		all.Wait()
	})
}

// What a pipeline adds to an RPC is small beside grpc-go's own hundred or so
// allocations: the request, with the options of its attempt, how its end is
// heard of, and the contexts of the total and of the attempt, which are one.
// Where the caller has no nearer deadline, there is the context with a timer
// that every bounded call has.
func TestAnAttemptThatGoesWellCostsLittle(t *testing.T) {
	open, stop := context.WithCancel(t.Context())
	defer stop()
	soon, cancel := context.WithTimeout(open, time.Second)
	defer cancel()
	timer := testing.AllocsPerRun(100, func() {
		ctx, cancel := context.WithTimeout(open, time.Minute)
		waits(ctx)
		cancel()
	})
	waiting := testing.AllocsPerRun(100, func() { waits(soon) })
	for name, c := range map[string]struct {
		ctx   context.Context
		limit float64
	}{
		"a timer is needed": {open, 3 + timer},
		"the caller's does": {soon, 2 + waiting},
	} {
		t.Run(name, func(t *testing.T) {
			unary := client(t, middleware.Standard("test")).Unary
			req, reply := wrapperspb.String("x"), new(text)
			testkit.Allocs(t, c.limit, func() {
				if err := unary(c.ctx, say, req, reply, nil, waitingInvoker); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// waitingInvoker answers at once, and does with its context what grpc-go does.
func waitingInvoker(ctx context.Context, _ string, _, reply any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
	reply.(*text).Value = "x"
	waits(ctx)
	return nil
}

// waits makes a child of ctx to wait on.
func waits(ctx context.Context) {
	child, cancel := context.WithCancel(ctx)
	defer cancel()
	child.Done()
}
