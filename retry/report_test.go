package retry_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/retry"
)

// Acceptance case C61.
func TestC61_TheReportOfEveryEndingSaysWhich(t *testing.T) {
	rejected := backstay.Mark(errors.New("breaker open"), backstay.Outcome{Class: backstay.Rejected})
	final := backstay.Mark(errDown, backstay.Outcome{Class: backstay.Transient, Marks: backstay.Marks{Final: true}})
	second := time.Second
	tests := map[string]struct {
		config   retry.Config
		ctx      func(context.Context) context.Context
		f        func(context.Context) (int, error)
		attempts int
		waits    []time.Duration
		reason   backstay.Reason
	}{
		"success at once":         {f: failing(), attempts: 1},
		"success on attempt 2":    {f: failing(errDown), attempts: 2, waits: []time.Duration{second}},
		"exhausted":               {f: failing(errDown, errDown, errDown), attempts: 3, waits: []time.Duration{second, second}, reason: backstay.ReasonExhausted},
		"no retries allowed":      {f: failing(errDown), ctx: retry.Never, attempts: 1, reason: backstay.ReasonExhausted},
		"budget empty":            {config: retry.Config{Budget: retry.BudgetConfig{Burst: retry.NoBurst}}, f: failing(errDown), attempts: 1, reason: backstay.ReasonBudgetEmpty},
		"budget empty in between": {config: retry.Config{Budget: retry.BudgetConfig{Burst: 1}}, f: failing(errDown, errDown), attempts: 2, waits: []time.Duration{second}, reason: backstay.ReasonBudgetEmpty},
		"no time":                 {f: failing(errDown, backstay.RetryAfter(errDown, time.Hour)), attempts: 2, waits: []time.Duration{second}, reason: backstay.ReasonNoTime},
		"nested":                  {f: failing(errDown), ctx: retry.Suppress, attempts: 1, reason: backstay.ReasonNested},
		"the server said so":      {f: failing(final), attempts: 1, reason: backstay.ReasonDoNotRetry},
		"the caller's mistake":    {f: failing(backstay.PermanentError(errDown)), attempts: 1, reason: backstay.ReasonDoNotRetry},
		"rejected":                {f: failing(rejected), attempts: 0, reason: backstay.ReasonBreakerOpen},
		"rejected later":          {f: failing(errDown, rejected), attempts: 1, waits: []time.Duration{second}, reason: backstay.ReasonBreakerOpen},
		"cancelled before": {
			ctx: func(ctx context.Context) context.Context {
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				return ctx
			},
			f: failing(), attempts: 0, reason: backstay.ReasonCanceled,
		},
		"cancelled in an attempt": {f: failing(errDown, context.Canceled), attempts: 2, waits: []time.Duration{second}, reason: backstay.ReasonCanceled},
		"cancelled in a wait": {
			ctx: func(ctx context.Context) context.Context {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(1500*time.Millisecond, cancel)
				return ctx
			},
			f: failing(errDown, errDown), attempts: 2, waits: []time.Duration{second}, reason: backstay.ReasonCanceled,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.ctx != nil {
					ctx = test.ctx(ctx)
				}
				ctx, report := backstay.WithReport(ctx)
				report.Note(func(s *backstay.Summary) { s.Reason = backstay.ReasonClosed }) // of a layer below, overtaken
				f := func(ctx context.Context) (int, error) {
					n, err := test.f(ctx)
					if same(err, rejected) {
						backstay.Note(ctx, func(s *backstay.Summary) { s.Reason = backstay.ReasonBreakerOpen })
					}
					return n, err
				}
				_, _ = retry.Do(ctx, policy(t, test.config, constant(second)), f)
				got := report.Summary()
				if got.Attempts != test.attempts || got.Reason != test.reason || !slices.Equal(got.Waits, test.waits) {
					t.Errorf("got %d attempts, waits %v, reason %q; want %d, %v, %q",
						got.Attempts, got.Waits, got.Reason, test.attempts, test.waits, test.reason)
				}
			})
		})
	}
}

func TestARequestThatMustNotBeRepeatedSaysWhyInTheReportAndTheEvent(t *testing.T) {
	post := errors.New("POST without a key")
	noBody := errors.New("no body")
	tests := map[string]struct {
		x    protocol
		why  error
		kind []backstay.Kind
	}{
		"the protocol forbids it": {protocol{unrepeatable: post}, post, []backstay.Kind{backstay.RetrySuppressed}},
		"it cannot be made":       {protocol{fork: noBody}, noBody, []backstay.Kind{backstay.RetryPlanned, backstay.RetrySuppressed}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			seen := &told{}
			ctx, report := backstay.WithReport(t.Context())
			p := policy(t, retry.Config{Base: retry.NoWait}, observed(seen))
			_, _ = retry.Run(ctx, p, &test.x, 0, func(context.Context, int) (*answer, error) { return nil, errDown })
			if got := report.Summary(); got.Attempts != 1 || got.Reason != backstay.ReasonNotRepeatable {
				t.Errorf("reports %d attempts, %q", got.Attempts, got.Reason)
			}
			var kinds []backstay.Kind
			for _, e := range seen.Events() {
				kinds = append(kinds, e.Kind)
			}
			last := seen.Events()[len(seen.Events())-1]
			if !slices.Equal(kinds, test.kind) || !same(last.Err, test.why) || last.Reason != backstay.ReasonNotRepeatable {
				t.Errorf("told %q, at last %+v", kinds, last)
			}
		})
	}
}

func TestEvents(t *testing.T) {
	transient := backstay.Outcome{Class: backstay.Transient}
	overload := backstay.Outcome{Class: backstay.Overload, RetryAfter: time.Hour}
	final := backstay.Outcome{Class: backstay.Transient, Marks: backstay.Marks{Final: true}}
	second := time.Second
	tooLong := backstay.Mark(errDown, overload)
	forbidden := backstay.Mark(errDown, final)

	planned := func(attempt int, err error) backstay.Event {
		return backstay.Event{Kind: backstay.RetryPlanned, Policy: "payments", Attempt: attempt, Outcome: transient, Err: err, Wait: second}
	}
	suppressed := func(attempt int, o backstay.Outcome, err error, why backstay.Reason) backstay.Event {
		return backstay.Event{Kind: backstay.RetrySuppressed, Policy: "payments", Attempt: attempt, Outcome: o, Err: err, Reason: why}
	}
	noTime := suppressed(1, overload, tooLong, backstay.ReasonNoTime)
	noTime.Wait = time.Hour

	tests := map[string]struct {
		config retry.Config
		ctx    func(context.Context) context.Context
		err    error
		want   []backstay.Event
	}{
		"attempts used up are no suppressed retry": {err: errDown, want: []backstay.Event{planned(1, errDown), planned(2, errDown)}},
		"an empty budget": {
			config: retry.Config{Budget: retry.BudgetConfig{Burst: 1}}, err: errDown,
			want: []backstay.Event{planned(1, errDown), suppressed(2, transient, errDown, backstay.ReasonBudgetEmpty)},
		},
		"no time":               {err: tooLong, want: []backstay.Event{noTime}},
		"a server that says so": {err: forbidden, want: []backstay.Event{suppressed(1, final, forbidden, backstay.ReasonDoNotRetry)}},
		"a layer above":         {err: errDown, ctx: retry.Suppress, want: []backstay.Event{suppressed(1, transient, errDown, backstay.ReasonNested)}},
		"the caller's mistake is no suppressed retry": {err: backstay.PermanentError(errDown)},
		"nor is a rejection":                          {err: backstay.ErrRejected},
		"nor is a caller that left":                   {err: context.Canceled},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := &told{}
				ctx, calls := t.Context(), 0
				if test.ctx != nil {
					ctx = test.ctx(ctx)
				}
				_, _ = retry.Do(ctx, policy(t, test.config, constant(second), observed(seen)), always(test.err, &calls))
				if !slices.Equal(seen.Events(), test.want) {
					t.Errorf("told\n%+v, want\n%+v", seen.Events(), test.want)
				}
			})
		})
	}
}

func TestAClonePutsItsOwnNamesIntoEventsAndErrors(t *testing.T) {
	seen := &told{}
	p := policy(t, retry.Config{Base: retry.NoWait, MaxAttempts: 2})
	clone := p.Clone(&backstay.Scope{Policy: "payments", Key: "host-a", Observer: seen})
	_, err := retry.Do(t.Context(), clone, failing(errDown, errDown))
	if len(seen.Events()) != 1 || seen.Events()[0].Key != "host-a" {
		t.Errorf("told %+v", seen.Events())
	}
	var gaveUp *retry.ExhaustedError
	if !errors.As(err, &gaveUp) || gaveUp.Name != "payments[host-a]" {
		t.Errorf("got %v", err)
	}
	if clone.Config() != p.Config() {
		t.Error("has other settings")
	}
	if clone.Budget() == p.Budget() || p.Budget().Available() != 3 {
		t.Error("spends from the same budget")
	}
}

func TestAPanicOfAnObserverDoesNoHarm(t *testing.T) {
	p := policy(t, retry.Config{Base: retry.NoWait}, observed(backstay.ObserverFunc(func(context.Context, backstay.Event) {
		panic("boom")
	})))
	if got, err := retry.Do(t.Context(), p, failing(errDown)); got != 2 || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}
