package otelmw_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/memory"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/otelmw"
	"github.com/backstay-go/backstay/retry"
)

// order is an actor that orders something: it reserves it at its stock, and in a
// tail call has it shipped over HTTP.
type order struct{}

type none = struct{}

var (
	Order   = actors.NewType[order]("order")
	place   = actors.Declare[none, int](Order, "place")
	reserve = actors.Declare[none, none](Order, "reserve")
	ship    = actors.Declare[none, int](Order, "ship")
	audit   = actors.Declare[none, none](Order, "audit")
	state   = actors.DeclareQuery[none, none](Order, "state")

	errSoldOut = actors.RegisterError("order.sold_out", errors.New("it is sold out"))
)

// opened opens a node on log that is stopped with the test.
func (l *lab) opened(log actors.Log, hostings ...actors.Hosting) *actors.Node {
	l.t.Helper()
	node, err := actors.Open(l.t.Context(), actors.Config{Observer: l, Tracer: l.Actors()}, log, hostings...)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = node.Stop(context.Background()) })
	return node
}

// orders hosts orders that fail now and then: reserve at its first attempt.
func (l *lab) orders(shipIt func(context.Context) (int, error)) actors.Hosting {
	failures := 1
	return actors.Host(Order, actors.Settings{Retry: retry.Config{Base: retry.NoWait}},
		actors.HandleNext(place, func(ctx context.Context, self actors.Self[order], in none) (next actors.Next[int], err error) {
			if _, err := reserve.Call(ctx, Order.Ref("stock"), in); err != nil {
				return next, err
			}
			return ship.Tail(self, in), nil
		}),
		actors.Handle(reserve, func(context.Context, actors.Self[order], none) (none, error) {
			if failures--; failures >= 0 {
				return none{}, actors.Retry(errDown, 0)
			}
			return none{}, nil
		}),
		actors.Handle(ship, func(ctx context.Context, _ actors.Self[order], _ none) (int, error) { return shipIt(ctx) }),
	)
}

// serving is a server that makes spans as otelhttp does.
func (l *lab) serving(handle http.HandlerFunc) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ctx := propagation.TraceContext{}.Extract(req.Context(), propagation.HeaderCarrier(req.Header))
		ctx, span := l.tracers.Tracer("server").Start(ctx, "serve", trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		handle(w, req.WithContext(ctx))
	}))
	l.t.Cleanup(server.Close)
	return server
}

// One trace leads from a request that comes in over HTTP through a chain of
// actors to the one that goes out.
func TestATraceGoesThroughActors(t *testing.T) {
	l := newLab(t)
	refused := false
	depot := l.serving(func(w http.ResponseWriter, _ *http.Request) {
		if !refused {
			refused = true
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	pipeline, transport := l.pipeline(), l.Transport(http.DefaultTransport)
	node := l.opened(memory.New(), l.orders(func(ctx context.Context) (int, error) {
		return middleware.Do(ctx, pipeline, func(ctx context.Context) (int, error) { return get(ctx, transport, depot.URL) })
	}))
	front := l.serving(func(w http.ResponseWriter, req *http.Request) {
		if _, err := place.Call(node.Context(req.Context()), Order.Ref("7"), none{}); err != nil {
			t.Error(err)
		}
	})
	if _, err := get(t.Context(), http.DefaultTransport, front.URL); err != nil {
		t.Fatal(err)
	}
	front.Close() // its spans, and those of the depot, have ended
	depot.Close()

	tree := treeOf(l.spans.Ended())
	root := tree.only(t, trace.SpanID{}, 1)[0]
	call := tree.only(t, root.SpanContext().SpanID(), 1)[0]
	l.is(call, "order/place", trace.SpanKindClient, "backstay.outcome", "success", "backstay.actor.id", "7")
	links := tree.only(t, call.SpanContext().SpanID(), 2)
	l.is(links[0], "order/place", trace.SpanKindServer, "backstay.attempt.outcome", "success", "backstay.attempt", "1", "backstay.actor.epoch", "1")
	l.is(links[1], "order/ship", trace.SpanKindServer, "backstay.attempt.outcome", "success", "backstay.actor.link", "1")
	if a, b := attr(links[0], "backstay.actor.request"), attr(links[1], "backstay.actor.request"); a == "" || a != b {
		t.Errorf("the links of a chain are the requests %q and %q", a, b)
	}
	tries := tree.only(t, links[0].SpanContext().SpanID(), 2)
	l.is(tries[0], "order/reserve", trace.SpanKindServer, "backstay.attempt", "1", "backstay.attempt.outcome", "transient")
	l.is(tries[1], "order/reserve", trace.SpanKindServer, "backstay.attempt", "2", "backstay.attempt.outcome", "success")
	if tries[0].Status().Code != codes.Error || tries[1].Status().Code != codes.Unset || links[0].Status().Code != codes.Unset {
		t.Error("a run that is repeated marks itself, and nobody else")
	}
	outgoing := tree.only(t, links[1].SpanContext().SpanID(), 1)[0]
	l.is(outgoing, "call payments", trace.SpanKindInternal, "backstay.attempts", "2")
	for _, attempt := range tree.only(t, outgoing.SpanContext().SpanID(), 2) {
		tree.only(t, attempt.SpanContext().SpanID(), 1) // the depot's
	}
}

// is fails the test unless a span is what it should be.
func (l *lab) is(s sdktrace.ReadOnlySpan, name string, kind trace.SpanKind, facts ...string) {
	l.t.Helper()
	if s.Name() != name || s.SpanKind() != kind {
		l.t.Errorf("it is the span %v %q, want %v %q", s.SpanKind(), s.Name(), kind, name)
	}
	for i := 0; i < len(facts); i += 2 {
		if got := attr(s, facts[i]); got != facts[i+1] {
			l.t.Errorf("%s: %s is %q, want %q", name, facts[i], got, facts[i+1])
		}
	}
}

func TestTheRunAfterATakeoverIsInTheSameTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		log := memory.New()
		runs := 0
		hosting := l.orders(func(ctx context.Context) (int, error) {
			if runs++; runs == 1 {
				<-ctx.Done()
				return 0, context.Cause(ctx)
			}
			return 7, nil
		})
		first := l.opened(log, hosting)
		synctest.Wait()
		client := l.opened(log)
		pending := ship.Go(client.Context(t.Context()), Order.Ref("7"), none{})
		time.Sleep(time.Second)
		crashed, cancel := context.WithCancel(t.Context())
		cancel()
		_ = first.Stop(crashed) // it says that it was cut short
		l.opened(log, hosting)
		if _, err := pending.Await(t.Context()); err != nil {
			t.Fatal(err)
		}
		tree := treeOf(l.spans.Ended())
		call := tree.only(t, trace.SpanID{}, 1)[0]
		both := tree.only(t, call.SpanContext().SpanID(), 2)
		l.is(both[0], "order/ship", trace.SpanKindServer, "backstay.actor.epoch", "1", "backstay.attempt.outcome", "canceled")
		l.is(both[1], "order/ship", trace.SpanKindServer, "backstay.actor.epoch", "2", "backstay.attempt.outcome", "success")
		if both[0].Status().Code == codes.Error {
			t.Error("a run that was cut short is a failure of its method")
		}
	})
}

func TestWhatATellRunsIsATraceThatLinksToItsSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		node := l.opened(memory.New(), actors.Host(Order, actors.Settings{},
			actors.Handle(reserve, func(ctx context.Context, _ actors.Self[order], in none) (none, error) {
				return in, audit.Tell(ctx, Order.Ref("auditor"), in)
			}),
			actors.Handle(audit, func(context.Context, actors.Self[order], none) (none, error) { return none{}, errSoldOut }),
			actors.HandleShared(state, func(context.Context, actors.View[order], none) (none, error) { return none{}, nil }),
		))
		ctx := node.Context(t.Context())
		if err := reserve.Tell(ctx, Order.Ref("7"), none{}); err != nil {
			t.Fatal(err)
		}
		if _, err := state.Call(ctx, Order.Ref("7"), none{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		found := make(map[string]sdktrace.ReadOnlySpan)
		for _, s := range l.spans.Ended() {
			found[s.Name()+" "+s.SpanKind().String()] = s
		}
		if len(found) != 5 {
			t.Fatalf("%d spans: %v", len(found), found)
		}
		l.is(found["order/audit consumer"], "order/audit", trace.SpanKindConsumer, "error.type", "order.sold_out", "backstay.attempt.outcome", "permanent")
		for receiver, sender := range map[string]string{
			"order/reserve consumer": "order/reserve producer",
			"order/audit consumer":   "order/reserve consumer",
		} {
			to, from := found[receiver], found[sender]
			if to.Parent().IsValid() || len(to.Links()) != 1 || !to.Links()[0].SpanContext.Equal(from.SpanContext().WithRemote(true)) {
				t.Errorf("%s has the parent %v and the links %v, want a link to %v", receiver, to.Parent(), to.Links(), from.SpanContext())
			}
		}
		if found["order/state server"].Parent().SpanID() != found["order/state client"].SpanContext().SpanID() {
			t.Error("a query is not the child of who asked")
		}
	})
}

// Without an SDK a request carries what its context has; with one that did not
// choose it, that it was not chosen.
func TestWhatIsNotRecordedIsHandedOn(t *testing.T) {
	remote := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, Remote: true})
	for name, options := range providers(t) {
		if name == "metrics and spans" {
			continue
		}
		tracer := observer(t, append(options, otelmw.WithPropagator(propagation.TraceContext{}))...).Actors()
		ctx, end := tracer.StartRequest(trace.ContextWithSpanContext(t.Context(), remote), actors.Invocation{Type: "order", Method: "place"})
		carried := make(actors.Baggage)
		tracer.Inject(ctx, carried)
		inner, endRun := tracer.StartRun(t.Context(), actors.Invocation{Type: "order", Method: "place", Attempt: 1}, carried)
		if got := trace.SpanContextFromContext(inner).TraceID(); got != remote.TraceID() {
			t.Errorf("%s: the run is in the trace %v", name, got)
		}
		endRun(nil)
		end(errDown)
	}
}
