package slogmw_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/slogmw"
	"github.com/backstay-go/backstay/retry"
)

// logger returns a logger that writes text without the time.
func logger(out *bytes.Buffer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

func TestEachKindHasItsLevel(t *testing.T) {
	failed := backstay.Outcome{Class: backstay.Transient}
	for _, c := range []struct {
		name string
		e    backstay.Event
		want slog.Level
	}{
		{"a call that succeeded", backstay.Event{Kind: backstay.CallDone}, slog.LevelDebug},
		{"a call that failed", backstay.Event{Kind: backstay.CallDone, Outcome: failed}, slog.LevelWarn},
		{"a call that made a mistake", backstay.Event{Kind: backstay.CallDone, Outcome: backstay.Outcome{Class: backstay.Permanent}}, slog.LevelDebug},
		{"a call that was cancelled", backstay.Event{Kind: backstay.CallDone, Outcome: backstay.Outcome{Class: backstay.Canceled}}, slog.LevelDebug},
		{"a call that was rejected, which is told by itself", backstay.Event{Kind: backstay.CallDone, Outcome: backstay.Outcome{Class: backstay.Rejected}}, slog.LevelDebug},
		{"an attempt that failed, which may be mended", backstay.Event{Kind: backstay.AttemptDone, Outcome: failed}, slog.LevelDebug},
		{"a retry", backstay.Event{Kind: backstay.RetryPlanned, Outcome: failed}, slog.LevelInfo},
		{"no retry", backstay.Event{Kind: backstay.RetrySuppressed, Outcome: failed}, slog.LevelInfo},
		{"a refusal", backstay.Event{Kind: backstay.CallRejected}, slog.LevelInfo},
		{"a breaker", backstay.Event{Kind: backstay.BreakerChanged}, slog.LevelWarn},
		{"a copy", backstay.Event{Kind: backstay.HedgeStarted}, slog.LevelDebug},
		{"the end of a copy", backstay.Event{Kind: backstay.HedgeDone, Outcome: failed}, slog.LevelDebug},
		{"a fallback", backstay.Event{Kind: backstay.FallbackUsed}, slog.LevelInfo},
		{"a limit", backstay.Event{Kind: backstay.LimitChanged}, slog.LevelDebug},
		{"policies that were refused", backstay.Event{Kind: middleware.PoliciesRefused}, slog.LevelError},
		{"policies that came into force", backstay.Event{Kind: middleware.PoliciesLoaded}, slog.LevelInfo},
		{"a policy that came", backstay.Event{Kind: middleware.PolicyAdded}, slog.LevelInfo},
		{"a policy that went", backstay.Event{Kind: middleware.PolicyRemoved}, slog.LevelWarn},
		{"a policy that changed", backstay.Event{Kind: middleware.PolicyChanged}, slog.LevelInfo},
		{"a handler that panicked", backstay.Event{Kind: middleware.HandlerPanicked}, slog.LevelError},
		{"a handler that was answered for", backstay.Event{Kind: middleware.HandlerTimedOut}, slog.LevelWarn},
		{"a policy that was not applied", backstay.Event{Kind: middleware.PolicyNotApplied}, slog.LevelWarn},
		{"a store of keys that failed", backstay.Event{Kind: idempotency.StoreFailed}, slog.LevelWarn},
		{"work that was let through unprotected", backstay.Event{Kind: idempotency.LetThrough}, slog.LevelWarn},
		{"a lease that was lost", backstay.Event{Kind: idempotency.LeaseLost}, slog.LevelWarn},
		{"an answer that was not kept", backstay.Event{Kind: idempotency.AnswerNotKept}, slog.LevelWarn},
		{"a key that was not freed", backstay.Event{Kind: idempotency.KeyNotFreed}, slog.LevelWarn},
		{"an answer that was given again", backstay.Event{Kind: idempotency.KeyReplayed}, slog.LevelInfo},
		{"a fault on purpose", backstay.Event{Kind: backstay.FaultInjected}, slog.LevelInfo},
		{"a header", backstay.Event{Kind: backstay.HeaderIgnored}, slog.LevelInfo},
		{"a key that was given up", backstay.Event{Kind: backstay.PipelineEvicted}, slog.LevelDebug},
		{"a callback", backstay.Event{Kind: backstay.CallbackPanicked}, slog.LevelWarn},
		{"a step of an actor", backstay.Event{Kind: backstay.StepDone}, slog.LevelDebug},
		{"a step that will be repeated", backstay.Event{Kind: backstay.StepFailed, Outcome: failed}, slog.LevelInfo},
		{"a request to an actor that was given up", backstay.Event{Kind: backstay.RequestGivenUp}, slog.LevelWarn},
		{"a partition that is owned", backstay.Event{Kind: backstay.PartitionOwned}, slog.LevelInfo},
		{"a partition that was taken away", backstay.Event{Kind: backstay.PartitionLost, Err: errors.New("another process took it over")}, slog.LevelWarn},
		{"a partition that was handed over", backstay.Event{Kind: backstay.PartitionLost}, slog.LevelInfo},
		{"a partition that was refused", backstay.Event{Kind: backstay.PartitionRefused}, slog.LevelWarn},
		{"a record that cannot be read", backstay.Event{Kind: backstay.RecordSkipped}, slog.LevelError},
		{"a message that is lost", backstay.Event{Kind: backstay.OutputLost}, slog.LevelError},
		{"an outbox that is congested", backstay.Event{Kind: backstay.OutboxCongested, Err: errors.New("full")}, slog.LevelWarn},
		{"an outbox that no longer is", backstay.Event{Kind: backstay.OutboxCongested}, slog.LevelInfo},
		{"a letter about a request that was given up", backstay.Event{Kind: backstay.DeadLetter}, slog.LevelDebug},
		{"a phase of a takeover", backstay.Event{Kind: backstay.TakeoverPhase}, slog.LevelDebug},
		{"a snapshot", backstay.Event{Kind: backstay.SnapshotSaved}, slog.LevelDebug},
		{"a snapshot that failed", backstay.Event{Kind: backstay.SnapshotFailed}, slog.LevelWarn},
		{"a log that failed, and is tried again", backstay.Event{Kind: backstay.LogFailed}, slog.LevelWarn},
		{"an instance that could not be put away", backstay.Event{Kind: backstay.PassivationFailed}, slog.LevelWarn},
		{"a kind of another package", backstay.Event{Kind: "lease renewed"}, slog.LevelDebug},
	} {
		if got := slogmw.Level(c.e); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAnEventIsOneRecordWithTheFieldsThatAreSet(t *testing.T) {
	for want, e := range map[string]backstay.Event{
		`level=DEBUG msg="call done" policy=payments key=host operation=charge attempt=2 copy=1 outcome=success elapsed=1.5s`: {
			Kind: backstay.CallDone, Policy: "payments", Key: "host", Operation: "charge", Attempt: 2, Copy: 1, Elapsed: 1500 * time.Millisecond,
		},
		`level=INFO msg="retry planned" policy=payments attempt=1 outcome=overload wait=2s error="server is busy"`: {
			Kind: backstay.RetryPlanned, Policy: "payments", Attempt: 1, Outcome: backstay.Outcome{Class: backstay.Overload},
			Wait: 2 * time.Second, Err: errors.New("server is busy"),
		},
		`level=WARN msg="breaker changed" key=host reason=failure_ratio from=closed to=open wait=5s`: {
			Kind: backstay.BreakerChanged, Key: "host", From: "closed", To: "open", Reason: "failure_ratio", Wait: 5 * time.Second,
		},
		`level=DEBUG msg="limit changed" limit=12`:                       {Kind: backstay.LimitChanged, Limit: 12},
		`level=INFO msg="fallback used" reason=drill rung=cached`:        {Kind: backstay.FallbackUsed, Rung: "cached", Reason: "drill"},
		`level=DEBUG msg="hedge done" copy=2 outcome=success reason=won`: {Kind: backstay.HedgeDone, Copy: 2, Reason: backstay.ReasonHedgeWon},
		`level=DEBUG msg="step done" policy=account key=account/3 operation=deposit attempt=1 outcome=success elapsed=2ms`: {
			Kind: backstay.StepDone, Policy: "account", Key: "account/3", Operation: "deposit", Attempt: 1, Elapsed: 2 * time.Millisecond,
		},
		`level=ERROR msg="handler panicked" operation=/bank/Pay outcome=fault error="the handler of /bank/Pay panicked: nil map" stack="goroutine 1 [running]:"`: {
			Kind: middleware.HandlerPanicked, Operation: "/bank/Pay", Outcome: backstay.Outcome{Class: backstay.Fault},
			Err: &middleware.PanicError{Operation: "/bank/Pay", Value: "nil map", Stack: []byte("goroutine 1 [running]:")},
		},
		`level=WARN msg="callback panicked" policy=account operation=deposit error=oh stack="goroutine 7 [running]:"`: {
			Kind: backstay.CallbackPanicked, Policy: "account", Operation: "deposit", Err: stacked{},
		},
		`level=DEBUG msg="pipeline evicted"`: {Kind: backstay.PipelineEvicted},
	} {
		var out bytes.Buffer
		slogmw.New(logger(&out, slog.LevelDebug)).Observe(t.Context(), e)
		if got := strings.TrimSuffix(out.String(), "\n"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// stacked is a panic as other packages tell it.
type stacked struct{}

func (stacked) Error() string { return "oh" }
func (stacked) Stack() []byte { return []byte("goroutine 7 [running]:") }

func TestTheLevelDecides(t *testing.T) {
	var out bytes.Buffer
	o := slogmw.New(logger(&out, slog.LevelInfo))
	o.Observe(t.Context(), backstay.Event{Kind: backstay.CallDone})
	if out.Len() > 0 {
		t.Errorf("below the logger's level: %s", &out)
	}
	loud := slogmw.New(logger(&out, slog.LevelInfo), slogmw.WithLevel(func(e backstay.Event) slog.Level {
		if e.Kind == backstay.CallDone {
			return slog.LevelError
		}
		return slogmw.Level(e)
	}))
	loud.Observe(t.Context(), backstay.Event{Kind: backstay.CallDone})
	loud.Observe(t.Context(), backstay.Event{Kind: backstay.AttemptDone})
	if got := out.String(); got != "level=ERROR msg=\"call done\" outcome=success\n" {
		t.Errorf("got %s", got)
	}
}

func TestNoLoggerIsTheDefaultOne(t *testing.T) {
	var out bytes.Buffer
	old := slog.Default()
	slog.SetDefault(logger(&out, slog.LevelInfo))
	defer slog.SetDefault(old)
	slogmw.New(nil).Observe(t.Context(), backstay.Event{Kind: backstay.CallRejected})
	if !strings.Contains(out.String(), "call rejected") {
		t.Errorf("got %q", out.String())
	}
}

type contextKey struct{}

// handler checks that the record comes with the event's context.
type handler struct {
	slog.Handler
	value any
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	h.value = ctx.Value(contextKey{})
	return h.Handler.Handle(ctx, r)
}

func TestARecordComesWithTheEventsContext(t *testing.T) {
	h := &handler{Handler: slog.NewTextHandler(new(bytes.Buffer), nil)}
	ctx := context.WithValue(t.Context(), contextKey{}, "span")
	slogmw.New(slog.New(h)).Observe(ctx, backstay.Event{Kind: backstay.CallRejected})
	if h.value != "span" {
		t.Errorf("got %v", h.value)
	}
}

func TestACallIsAStory(t *testing.T) {
	var out bytes.Buffer
	target := middleware.Standard("payments")
	target.Retry = &retry.Config{Base: retry.NoWait, MaxAttempts: 2}
	p, err := middleware.New(target, middleware.WithObserver(slogmw.New(logger(&out, slog.LevelInfo))))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = middleware.Do(t.Context(), p, func(context.Context) (int, error) { return 0, errors.New("down") })
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], `level=INFO msg="retry planned" policy=payments attempt=1 outcome=transient`) ||
		!strings.HasPrefix(lines[1], `level=WARN msg="call done" policy=payments attempt=2 outcome=transient reason=exhausted`) {
		t.Errorf("got\n%s", &out)
	}
}

func TestALevelThatIsOffCostsNothing(t *testing.T) {
	o := slogmw.New(logger(new(bytes.Buffer), slog.LevelWarn))
	e := backstay.Event{Kind: backstay.AttemptDone, Policy: "payments", Key: "host", Attempt: 1, Elapsed: time.Second, Err: errors.New("down")}
	ctx := t.Context()
	testkit.Allocs(t, 0, func() { o.Observe(ctx, e) })
}

// A record that is written costs the list of its attributes, and no boxes.
func TestARecordCostsTheListOfItsAttributes(t *testing.T) {
	e := backstay.Event{Kind: backstay.CallDone, Policy: "payments", Key: "host", Attempt: 1, Elapsed: time.Second}
	var kept []slog.Attr
	testkit.Allocs(t, 1, func() { kept = slogmw.Attrs(e) })
	_ = kept
}
