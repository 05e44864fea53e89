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

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/otelmw"
	"github.com/backstay-go/backstay/retry"
)

// Acceptance case C62.
func TestC62_TheServersSpanIsTheChildOfItsAttempt(t *testing.T) {
	l := newLab(t)
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ctx := propagation.TraceContext{}.Extract(req.Context(), propagation.HeaderCarrier(req.Header))
		_, span := l.tracers.Tracer("server").Start(ctx, "serve", trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		if requests++; requests < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	transport := l.Transport(http.DefaultTransport)

	ctx, span := l.tracers.Tracer("caller").Start(t.Context(), "handle order")
	_, err := middleware.Do(ctx, l.pipeline(), func(ctx context.Context) (int, error) { return get(ctx, transport, server.URL) })
	span.End()
	if err != nil {
		t.Fatal(err)
	}
	server.Close() // the last server's span has ended

	tree := treeOf(l.spans.Ended())
	root := tree.only(t, trace.SpanID{}, 1)[0]
	call := tree.only(t, root.SpanContext().SpanID(), 1)[0]
	if call.SpanKind() != trace.SpanKindInternal || call.Name() != "call payments" {
		t.Errorf("the call's span is %v %q", call.SpanKind(), call.Name())
	}
	if call.Status().Code != codes.Unset || attr(call, "backstay.outcome") != "success" || attr(call, "backstay.attempts") != "3" {
		t.Errorf("the call ended %v, %v", call.Status(), call.Attributes())
	}
	for i, attempt := range tree.only(t, call.SpanContext().SpanID(), 3) {
		if attempt.SpanKind() != trace.SpanKindClient || attempt.Name() != "GET" {
			t.Errorf("attempt %d has the span %v %q", i+1, attempt.SpanKind(), attempt.Name())
		}
		if got, want := attr(attempt, "http.request.resend_count"), []string{"", "1", "2"}[i]; got != want {
			t.Errorf("attempt %d has the resend count %q, want %q", i+1, got, want)
		}
		if got, want := attr(attempt, "backstay.attempt"), []string{"1", "2", "3"}[i]; got != want {
			t.Errorf("attempt %d says that it is %q", i+1, got)
		}
		if got, want := attempt.Status().Code, []codes.Code{codes.Error, codes.Error, codes.Unset}[i]; got != want {
			t.Errorf("attempt %d ended %v, want %v", i+1, got, want)
		}
		served := tree.only(t, attempt.SpanContext().SpanID(), 1)[0]
		if served.SpanKind() != trace.SpanKindServer || served.SpanContext().TraceID() != root.SpanContext().TraceID() {
			t.Errorf("under attempt %d is %v of trace %v", i+1, served.SpanKind(), served.SpanContext().TraceID())
		}
	}
}

// get returns the status that url answers with, as an error if it is one.
func get(ctx context.Context, transport http.RoundTripper, url string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return resp.StatusCode, errors.New(resp.Status)
	}
	return resp.StatusCode, nil
}

// tree are spans by their parents, in the order in which they began.
type tree map[trace.SpanID][]sdktrace.ReadOnlySpan

func treeOf(spans []sdktrace.ReadOnlySpan) tree {
	all := make(tree)
	for _, s := range spans {
		parent := s.Parent().SpanID()
		at := 0
		for at < len(all[parent]) && all[parent][at].StartTime().Before(s.StartTime()) {
			at++
		}
		all[parent] = append(all[parent][:at], append([]sdktrace.ReadOnlySpan{s}, all[parent][at:]...)...)
	}
	return all
}

// only returns the children of parent, of which there must be n.
func (tr tree) only(t *testing.T, parent trace.SpanID, n int) []sdktrace.ReadOnlySpan {
	t.Helper()
	if len(tr[parent]) != n {
		t.Fatalf("%d spans under %v, want %d: %v", len(tr[parent]), parent, n, tr[parent])
	}
	return tr[parent]
}

// Each row ends a call in a way; the status of its span is for who looks for
// calls that failed, that of its attempts for who looks for bad backends.
func TestASpanFailsIfItsCallerGotAFailure(t *testing.T) {
	gone, leave := context.WithCancel(context.Background())
	leave()
	over, cancel := context.WithDeadline(context.Background(), time.Unix(1, 0))
	defer cancel()
	for _, row := range []struct {
		name    string
		ctx     context.Context
		e       backstay.Event
		call    codes.Code
		attempt codes.Code
		kind    string // of the error, of the attempt
	}{
		{name: "a success", e: backstay.Event{}},
		{name: "a failure", e: backstay.Event{Outcome: outcome(backstay.Transient), Err: errDown}, call: codes.Error, attempt: codes.Error, kind: "*errors.errorString"},
		{name: "a failure that is an answer", e: backstay.Event{Outcome: outcome(backstay.Overload)}, call: codes.Error, attempt: codes.Error, kind: "overload"},
		{name: "a mistake that is an error", e: backstay.Event{Outcome: outcome(backstay.Permanent), Err: errDown}, call: codes.Error, attempt: codes.Error, kind: "*errors.errorString"},
		{name: "a mistake that is an answer", e: backstay.Event{Outcome: outcome(backstay.Permanent)}, attempt: codes.Error, kind: "permanent"},
		{name: "an error that somebody judged a success", e: backstay.Event{Err: errDown}},
		{name: "a refusal", e: backstay.Event{Outcome: outcome(backstay.Rejected), Err: backstay.ErrRejected}, call: codes.Error, attempt: codes.Error, kind: "rejected"},
		{name: "a caller who left", e: backstay.Event{Outcome: outcome(backstay.Canceled), Err: gone.Err()}},
		{name: "a caller whose time was over", e: backstay.Event{Outcome: outcome(backstay.Canceled), Err: over.Err()}, call: codes.Error, attempt: codes.Error, kind: "timeout"},
		{name: "a panic", e: backstay.Event{Outcome: outcome(backstay.Fault)}, call: codes.Error, attempt: codes.Error, kind: "fault"},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newLab(t)
			ctx, endCall := l.Start(t.Context(), backstay.Event{Kind: backstay.CallStarted})
			_, endAttempt := l.Start(ctx, backstay.Event{Kind: backstay.AttemptStarted, Attempt: 1, Copy: 1})
			endAttempt(row.e)
			endCall(row.e)
			spans := l.ended()
			if got := spans[0].Status().Code; got != row.call {
				t.Errorf("the call is %v, want %v", got, row.call)
			}
			if got := spans[1].Status().Code; got != row.attempt {
				t.Errorf("the attempt is %v, want %v", got, row.attempt)
			}
			if got := attr(spans[1], "error.type"); got != row.kind {
				t.Errorf("its error is a %q, want %q", got, row.kind)
			}
		})
	}
}

func outcome(c backstay.Class) backstay.Outcome { return backstay.Outcome{Class: c} }

func TestTheSpanOfACallShowsWhatHappened(t *testing.T) {
	l := newLab(t)
	p := l.pipeline()
	ladder, err := middleware.NewLadder(p, fallback.Rungs(fallback.Reduced("yesterday's", func(context.Context, error) (int, error) { return 6, nil })))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = middleware.DoOr(t.Context(), p, ladder, fails)
	spans := l.ended()
	if len(spans) != 4 {
		t.Fatalf("%d spans", len(spans))
	}
	call := spans[0]
	var names []string
	for _, e := range call.Events() {
		names = append(names, e.Name)
	}
	want := []string{"backstay.retry.planned", "backstay.retry.planned", "backstay.fallback.used"}
	if len(names) != len(want) || names[0] != want[0] || names[1] != want[1] || names[2] != want[2] {
		t.Errorf("the events are %v, want %v", names, want)
	}
	if attr(call, "backstay.rung") != "yesterday's" || attr(call, "backstay.reason") != "exhausted" || call.Status().Code != codes.Unset {
		t.Errorf("it ended %v %v", call.Status(), call.Attributes())
	}
}

func TestCopiesAreSiblings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		p := l.pipeline(func(target *middleware.Target) {
			target.Hedge = &hedge.Config{Delay: 10 * time.Millisecond, Budget: hedge.BudgetConfig{Ratio: 1}}
		})
		_, err := middleware.Race(t.Context(), p, nil, func(ctx context.Context) (int, error) {
			if hedge.Copy(ctx) == 1 {
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return 7, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		spans := l.ended()
		if len(spans) != 3 || attr(spans[0], "backstay.copy") != "2" {
			t.Fatalf("the spans are %v", spans)
		}
		for _, s := range spans[1:] {
			if s.Parent().SpanID() != spans[0].SpanContext().SpanID() || s.Status().Code != codes.Unset {
				t.Errorf("copy %q: parent %v, status %v", attr(s, "backstay.copy"), s.Parent().SpanID(), s.Status())
			}
		}
	})
}

func TestAPanicEndsBothSpans(t *testing.T) {
	l := newLab(t)
	p := l.pipeline()
	func() {
		defer func() { _ = recover() }()
		_, _ = middleware.Do(t.Context(), p, func(context.Context) (int, error) { panic("oh") })
	}()
	spans := l.ended()
	if len(spans) != 2 || spans[0].Status().Code != codes.Error || spans[1].Status().Code != codes.Error {
		t.Errorf("got %v", spans)
	}
}

func TestAttemptSpansCanBeLeftToAnother(t *testing.T) {
	l := newLab(t, otelmw.WithoutAttemptSpans())
	_, err := middleware.Do(t.Context(), l.pipeline(), func(ctx context.Context) (int, error) {
		_, span := l.tracers.Tracer("otelhttp").Start(ctx, "GET", trace.WithSpanKind(trace.SpanKindClient))
		defer span.End()
		return 7, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	spans := l.ended()
	if len(spans) != 2 || spans[1].Name() != "GET" || spans[1].Parent().SpanID() != spans[0].SpanContext().SpanID() {
		t.Errorf("got %v", spans)
	}
	l.want("backstay.deadline.remaining", map[string]float64{"backstay.policy=payments": 1})
}

// A caller's trace goes on through a program that has no SDK.
func TestWithoutAnSDKTheCallersTraceGoesOn(t *testing.T) {
	o := observer(t, otelmw.WithPropagator(propagation.TraceContext{}))
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, Remote: true})
	p, err := middleware.New(middleware.Standard("payments"), middleware.WithObserver(o))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = middleware.Do(trace.ContextWithSpanContext(t.Context(), parent), p, func(ctx context.Context) (int, error) {
		o.Inject(ctx, func(field, value string) {
			if field != "traceparent" || value != "00-01000000000000000000000000000000-0200000000000000-01" {
				t.Errorf("%s: %s", field, value)
			}
		})
		return 7, nil
	})
}

func TestATraceThatIsNotChosenIsToldSo(t *testing.T) {
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))
	l := newLab(t, otelmw.WithTracerProvider(tracers))
	told := false
	_, _ = middleware.Do(t.Context(), l.pipeline(), func(ctx context.Context) (int, error) {
		l.Inject(ctx, func(_, value string) { told = len(value) == 55 && value[53:] == "00" })
		return 7, nil
	})
	if !told {
		t.Error("the server does not hear that the trace was not chosen")
	}
}

func TestPipelinesNest(t *testing.T) {
	l := newLab(t)
	outer := l.pipeline(func(target *middleware.Target) { target.Name = "outer"; target.Retry = nil })
	inner := l.pipeline(func(target *middleware.Target) {
		target.Name = "inner"
		target.Retry = &retry.Config{Base: retry.NoWait}
	})
	_, _ = middleware.Do(t.Context(), outer, func(ctx context.Context) (int, error) {
		return middleware.Do(ctx, inner, failsFirst(1))
	})
	tree := treeOf(l.spans.Ended())
	call := tree.only(t, trace.SpanID{}, 1)[0]
	attempt := tree.only(t, call.SpanContext().SpanID(), 1)[0]
	within := tree.only(t, attempt.SpanContext().SpanID(), 1)[0]
	tree.only(t, within.SpanContext().SpanID(), 2)
}
