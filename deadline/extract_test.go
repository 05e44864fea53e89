package deadline_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/internal/testkit"
)

// incoming returns an Incoming that is told of by events.
func incoming(t testing.TB, c deadline.IncomingConfig, events *[]backstay.Event, extra ...deadline.Codec) *deadline.Incoming {
	t.Helper()
	scope := &backstay.Scope{Policy: "server", Observer: backstay.ObserverFunc(func(_ context.Context, e backstay.Event) {
		*events = append(*events, e)
	})}
	in, err := deadline.NewIncoming(c, scope, extra...)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// ours is a request with our own header.
func ours(values ...string) http.Header { return http.Header{"X-Backstay-Timeout-Ms": values} }

func TestTheDecisionOnAnIncomingRequest(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name          string
		config        deadline.IncomingConfig
		headers       http.Header
		limit, queued time.Duration
		want          deadline.Taken // without Ignored
		ignored       int
	}{
		{"no header: the cap", deadline.IncomingConfig{}, nil, longest, 0, deadline.Taken{Left: 60 * s}, 0},
		{"no header, no cap: nothing bounds it", deadline.IncomingConfig{Cap: deadline.NoCap}, nil, longest, 0, deadline.Taken{Left: longest}, 0},
		{"the caller's deadline", deadline.IncomingConfig{}, ours("5000"), longest, 0, deadline.Taken{Left: 5 * s, Header: "X-Backstay-Timeout-Ms"}, 0},
		{"one beyond the cap", deadline.IncomingConfig{}, ours("90000"), longest, 0, deadline.Taken{Left: 60 * s}, 0},
		{"one beyond the context's own", deadline.IncomingConfig{}, ours("5000"), 2 * s, 0, deadline.Taken{Left: 2 * s}, 0},
		{"a cap beyond the context's own", deadline.IncomingConfig{}, nil, 2 * s, 0, deadline.Taken{Left: 2 * s}, 0},
		{"time in the queue is subtracted from the caller's", deadline.IncomingConfig{}, ours("5000"), longest, 3 * s, deadline.Taken{Left: 2 * s, Header: "X-Backstay-Timeout-Ms"}, 0},
		{"which may bring it below the cap", deadline.IncomingConfig{}, ours("58000"), longest, 3 * s, deadline.Taken{Left: 55 * s, Header: "X-Backstay-Timeout-Ms"}, 0},
		{"and from the cap", deadline.IncomingConfig{Cap: 10 * s}, nil, longest, 3 * s, deadline.Taken{Left: 7 * s}, 0},
		{"but not from the context's, which ran meanwhile", deadline.IncomingConfig{}, nil, 2 * s, 3 * s, deadline.Taken{Left: 2 * s}, 0},
		{"used up in the queue", deadline.IncomingConfig{}, ours("5000"), longest, 6 * s, deadline.Taken{Left: -s, Header: "X-Backstay-Timeout-Ms", Late: true}, 0},
		{"used up to the moment", deadline.IncomingConfig{}, ours("5000"), longest, 5 * s, deadline.Taken{Header: "X-Backstay-Timeout-Ms", Late: true}, 0},
		{"expired when it was sent", deadline.IncomingConfig{}, ours("0"), longest, 0, deadline.Taken{Header: "X-Backstay-Timeout-Ms", Late: true}, 0},
		{"less than the minimum", deadline.IncomingConfig{Minimum: 100 * time.Millisecond}, ours("99"), longest, 0,
			deadline.Taken{Left: 99 * time.Millisecond, Header: "X-Backstay-Timeout-Ms", Late: true}, 0},
		{"just the minimum", deadline.IncomingConfig{Minimum: 100 * time.Millisecond}, ours("100"), longest, 0,
			deadline.Taken{Left: 100 * time.Millisecond, Header: "X-Backstay-Timeout-Ms"}, 0},
		{"the context's own is less than the minimum", deadline.IncomingConfig{Minimum: s}, nil, s - 1, 0, deadline.Taken{Left: s - 1, Late: true}, 0},
		{"not usable: as if it were not there", deadline.IncomingConfig{}, ours("1e3"), longest, 0, deadline.Taken{Left: 60 * s}, 1},
		{"the least of several", deadline.IncomingConfig{}, ours("7000", "5000", "6000"), longest, 0, deadline.Taken{Left: 5 * s, Header: "X-Backstay-Timeout-Ms"}, 0},
		{"a usable one beside one that is not", deadline.IncomingConfig{}, ours("junk", "5000", "-1"), longest, 0,
			deadline.Taken{Left: 5 * s, Header: "X-Backstay-Timeout-Ms"}, 1},
		{"a header that is not read", deadline.IncomingConfig{}, http.Header{"Grpc-Timeout": {"1S"}}, longest, 0, deadline.Taken{Left: 60 * s}, 0},
		{"the least of two that are read", deadline.IncomingConfig{Headers: []string{"x-backstay-timeout-ms", "grpc-timeout"}},
			http.Header{"Grpc-Timeout": {"1S"}, "X-Backstay-Timeout-Ms": {"1001"}}, longest, 0, deadline.Taken{Left: s, Header: "Grpc-Timeout"}, 0},
		{"neither of two is usable", deadline.IncomingConfig{Headers: []string{"x-backstay-timeout-ms", "grpc-timeout"}},
			http.Header{"Grpc-Timeout": {"1s"}, "X-Backstay-Timeout-Ms": {"-1"}}, longest, 0, deadline.Taken{Left: 60 * s}, 2},
		{"a zero from Envoy means no timeout", deadline.IncomingConfig{Headers: []string{"x-envoy-expected-rq-timeout-ms"}},
			http.Header{"X-Envoy-Expected-Rq-Timeout-Ms": {"0"}}, longest, 0, deadline.Taken{Left: 60 * s}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := incoming(t, c.config, new([]backstay.Event)).Decide(c.headers, c.limit, c.queued, sent)
			if len(got.Ignored) != c.ignored {
				t.Errorf("ignored %v, want %d", got.Ignored, c.ignored)
			}
			if got.Left != c.want.Left || got.Header != c.want.Header || got.Late != c.want.Late {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestADeadlineCenturiesAgoIsTooLate(t *testing.T) {
	codec := deadline.RFC3339("X-Deadline", 0)
	h := http.Header{"X-Deadline": {"0001-01-01T00:00:00Z"}}
	got := incoming(t, deadline.IncomingConfig{}, new([]backstay.Event), codec).Decide(h, longest, time.Second, sent)
	if !got.Late || got.Left >= 0 {
		t.Errorf("got %+v", got)
	}
}

func TestAnArrivalThatIsYetToComeExtendsNothing(t *testing.T) {
	in := incoming(t, deadline.IncomingConfig{}, new([]backstay.Event))
	ctx, cancel, err := deadline.Extract(t.Context(), ours("5000"), in, backstay.Now().Add(time.Hour))
	defer cancel()
	if left, ok := deadline.Remaining(ctx); err != nil || !ok || left > 5*time.Second {
		t.Errorf("%v left, %v, %v", left, ok, err)
	}
}

func TestTheExtractedContextEndsAtTheCallersDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []backstay.Event
		in := incoming(t, deadline.IncomingConfig{}, &events)
		began := time.Now()
		ctx, cancel, err := deadline.Extract(t.Context(), ours("5000"), in, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer cancel()
		if end, ok := ctx.Deadline(); !ok || end.Sub(began) != 5*time.Second {
			t.Errorf("its deadline is in %v, %v", end.Sub(began), ok)
		}
		<-ctx.Done()
		if d := time.Since(began); d != 5*time.Second || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Errorf("it ended after %v with %v", d, ctx.Err())
		}
		if len(events) != 0 {
			t.Errorf("told %+v", events)
		}
	})
}

func TestTheContextsOwnEarlierDeadlineServesAsItIs(t *testing.T) {
	own, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	ctx, cancel, err := deadline.Extract(own, ours("5000"), incoming(t, deadline.IncomingConfig{}, new([]backstay.Event)), 0)
	defer cancel()
	if ctx != own || err != nil {
		t.Errorf("got %v, %v", ctx, err)
	}
}

func TestANilIncomingTakesUpNothing(t *testing.T) {
	ctx, cancel, err := deadline.Extract(t.Context(), ours("0"), nil, 0)
	cancel()
	if ctx != t.Context() || err != nil {
		t.Errorf("got %v, %v", ctx, err)
	}
}

func TestARequestThatIsTooLateIsRefusedAndCounted(t *testing.T) {
	var events []backstay.Event
	in := incoming(t, deadline.IncomingConfig{Minimum: 50 * time.Millisecond}, &events)
	_, cancel, err := deadline.Extract(t.Context(), ours("20"), in, 0)
	cancel()
	late, ok := errors.AsType[*deadline.TooLateError](err)
	if !ok || late.Remaining != 20*time.Millisecond || late.Need != 50*time.Millisecond || late.Name != "server" {
		t.Fatalf("got %v", err)
	}
	for _, target := range []error{deadline.ErrTooLate, backstay.ErrRejected, context.DeadlineExceeded} {
		if !errors.Is(err, target) {
			t.Errorf("it does not match %v", target)
		}
	}
	if len(events) != 1 || events[0].Kind != backstay.CallRejected || events[0].Reason != backstay.ReasonTooLate ||
		events[0].Policy != "server" || !errors.Is(events[0].Err, deadline.ErrTooLate) || events[0].Outcome.Class != backstay.Rejected {
		t.Errorf("told %+v", events)
	}
}

func TestARequestWhoseCallerHasGoneIsNotTakenUp(t *testing.T) {
	gone := errors.New("connection closed")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(gone)
	_, cancel, err := deadline.Extract(ctx, ours("5000"), incoming(t, deadline.IncomingConfig{}, new([]backstay.Event)), 0)
	cancel()
	if !errors.Is(err, context.Canceled) || !errors.Is(err, gone) || errors.Is(err, deadline.ErrTooLate) {
		t.Errorf("got %v", err)
	}
}

func TestOneHeaderIsReportedOnceHoweverOftenItIsSent(t *testing.T) {
	var events []backstay.Event
	in := incoming(t, deadline.IncomingConfig{}, &events)
	values := make([]string, 1000)
	_, cancel, err := deadline.Extract(t.Context(), ours(values...), in, 0)
	cancel()
	if err != nil || len(events) != 1 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	e := events[0]
	fault, ok := errors.AsType[*deadline.HeaderError](e.Err)
	if e.Kind != backstay.HeaderIgnored || e.Reason != "X-Backstay-Timeout-Ms" || !ok || fault.Header != "X-Backstay-Timeout-Ms" || fault.Unwrap() == nil {
		t.Errorf("told %+v", e)
	}
}

func TestAHeaderOfTheServersChoiceIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // whose clock reads a year of 12 digits
		codec := deadline.EpochMillis("x-deadline", time.Second)
		h := make(http.Header)
		deadline.Inject(t.Context(), h, codec, 5*time.Second)
		in := incoming(t, deadline.IncomingConfig{}, new([]backstay.Event), codec)
		time.Sleep(2 * time.Second)
		ctx, cancel, err := deadline.Extract(t.Context(), h, in, 0)
		defer cancel()
		if left, ok := deadline.Remaining(ctx); err != nil || !ok || left != 4*time.Second { // 3 s and the skew
			t.Errorf("%v left, %v, %v", left, ok, err)
		}
	})
}

func TestAllFaultsOfAnIncomingConfigAreToldAtOnce(t *testing.T) {
	_, err := deadline.NewIncoming(deadline.IncomingConfig{Cap: -2, Minimum: -1, Headers: []string{"grpc-timeout", "x-else", ""}}, nil)
	var paths []string
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			if f, ok := errors.AsType[*backstay.FieldError](e); ok {
				paths = append(paths, f.Path)
			}
		}
	}
	want := []string{"deadline.cap", "deadline.minimum", "deadline.headers[1]", "deadline.headers[2]"}
	if len(paths) != len(want) {
		t.Fatalf("got %q, want %q", paths, want)
	}
	for i := range want {
		if paths[i] != want[i] {
			t.Errorf("got %q, want %q", paths, want)
		}
	}
	for name, c := range map[string]struct {
		config deadline.IncomingConfig
		valid  bool
	}{
		"the zero value":                    {deadline.IncomingConfig{}, true},
		"no cap, and any minimum":           {deadline.IncomingConfig{Cap: deadline.NoCap, Minimum: time.Hour}, true},
		"a minimum longer than the default": {deadline.IncomingConfig{Minimum: time.Hour}, false},
		"a minimum as long as the cap":      {deadline.IncomingConfig{Cap: time.Second, Minimum: time.Second}, true},
	} {
		if err := c.config.Validate(); (err == nil) != c.valid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestExtractAllocatesItsContextAndItsCancel(t *testing.T) {
	in, err := deadline.NewIncoming(deadline.IncomingConfig{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	h, ctx := ours("5000"), t.Context()
	testkit.Allocs(t, 2, func() {
		_, cancel, _ := deadline.Extract(ctx, h, in, 0)
		cancel()
	})
}

func BenchmarkExtract(b *testing.B) {
	in, _ := deadline.NewIncoming(deadline.IncomingConfig{}, nil)
	h, ctx := ours("5000"), b.Context()
	b.ReportAllocs()
	for b.Loop() {
		_, cancel, _ := deadline.Extract(ctx, h, in, 0)
		cancel()
	}
}
