package backstay_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
)

func TestAReportTellsOfOneCall(t *testing.T) {
	ctx, report := backstay.WithReport(context.Background())
	report.Begin()
	backstay.Note(ctx, func(s *backstay.Summary) { s.Attempts = 2; s.Waits = append(s.Waits, time.Second) })
	report.End(func(s *backstay.Summary) { s.Elapsed = time.Minute })
	backstay.Note(ctx, func(s *backstay.Summary) { s.Attempts = 99 }) // a late copy

	s := report.Summary()
	if s.Attempts != 2 || s.Elapsed != time.Minute || len(s.Waits) != 1 {
		t.Errorf("summary %+v", s)
	}
	s.Waits[0] = 0
	if report.Summary().Waits[0] != time.Second {
		t.Error("the summary shares memory with the report")
	}
	report.Begin()
	if s := report.Summary(); s.Attempts != 0 {
		t.Errorf("a second call inherits %+v", s)
	}
}

func TestANilReportIsLeftAlone(t *testing.T) {
	var r *backstay.Report
	r.Begin()
	r.Note(func(*backstay.Summary) { t.Error("called") })
	r.End(func(*backstay.Summary) { t.Error("called") })
	if s := r.Summary(); s.Attempts != 0 {
		t.Error(s)
	}
	backstay.Note(context.Background(), func(*backstay.Summary) { t.Error("called") })
}

func TestAReportCanBeHidden(t *testing.T) {
	ctx, report := backstay.WithReport(context.Background())
	hidden := backstay.WithoutReport(ctx)
	backstay.Note(hidden, func(*backstay.Summary) { t.Error("called") })
	if backstay.ReportFrom(hidden) != nil || backstay.ReportFrom(ctx) != report {
		t.Error("hidden where it should not be, or the other way round")
	}
	backstay.NoteAttempt(hidden, func(s *backstay.Summary) { s.Injected = append(s.Injected, "slow") })
	backstay.NoteAttempt(ctx, func(s *backstay.Summary) { s.Injected = append(s.Injected, "down") })
	if got := report.Summary().Injected; len(got) != 2 {
		t.Errorf("an attempt's end does not reach its call: %q", got)
	}
	backstay.NoteAttempt(backstay.WithoutReport(context.Background()), func(*backstay.Summary) { t.Error("called") })
	again, inner := backstay.WithReport(hidden)
	if backstay.ReportFrom(again) != inner {
		t.Error("a call within cannot have a report of its own")
	}
}

func TestAReportMayBeNotedFromManyGoroutines(t *testing.T) {
	ctx, report := backstay.WithReport(context.Background())
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { backstay.Note(ctx, func(s *backstay.Summary) { s.Copies++ }) })
	}
	wg.Wait()
	if got := report.Summary().Copies; got != 50 {
		t.Errorf("copies %d", got)
	}
}

func TestSummaryReadsAsOneLine(t *testing.T) {
	for _, c := range []struct {
		s    backstay.Summary
		want string
	}{
		{backstay.Summary{Attempts: 1}, "success after 1 attempt"},
		{
			backstay.Summary{Attempts: 2, Waits: []time.Duration{42 * time.Millisecond}},
			"success after 2 attempts (waited 42ms)",
		},
		{
			backstay.Summary{Attempts: 3, Outcome: backstay.Outcome{Class: backstay.Transient}, Reason: backstay.ReasonExhausted},
			"transient after 3 attempts, exhausted",
		},
		{backstay.Summary{Attempts: 2, Injected: []string{"slow", "down"}}, "success after 2 attempts, injected: slow down"},
		{backstay.Summary{Attempts: 1, Winner: 2}, "success after 1 attempt, copy 2 won"},
		{
			backstay.Summary{Reason: backstay.ReasonBreakerOpen, Degraded: true, Rung: "cached"},
			"success after 0 attempts, breaker_open, degraded: cached",
		},
	} {
		if got := c.s.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

type tracer struct {
	name  string
	ended *[]string // names, in the order in which spans ended
}

func (t tracer) Observe(context.Context, backstay.Event) {}

func (t tracer) Start(ctx context.Context, _ backstay.Event) (context.Context, func(backstay.Event)) {
	return context.WithValue(ctx, t, true), func(backstay.Event) { *t.ended = append(*t.ended, t.name) }
}

func TestObserversJoin(t *testing.T) {
	if backstay.Observers(nil, nil) != nil {
		t.Error("nobody must be nil")
	}
	var seen []string
	tell := func(name string) backstay.Observer {
		return backstay.ObserverFunc(func(_ context.Context, e backstay.Event) { seen = append(seen, name+" "+string(e.Kind)) })
	}
	both := backstay.Observers(tell("a"), nil, tell("b"))
	both.Observe(context.Background(), backstay.Event{Kind: backstay.CallDone})
	if len(seen) != 2 || seen[0] != "a call done" || seen[1] != "b call done" {
		t.Errorf("seen %q", seen)
	}
	if _, ok := both.(backstay.Tracer); ok {
		t.Error("a tracer out of nothing")
	}
	var ended []string
	x, y := tracer{"x", &ended}, tracer{"y", &ended}
	traced, ok := backstay.Observers(tell("a"), x, y).(backstay.Tracer)
	if !ok {
		t.Fatal("the tracers are lost")
	}
	ctx, end := traced.Start(context.Background(), backstay.Event{})
	if ctx.Value(x) == nil || ctx.Value(y) == nil {
		t.Error("a tracer's context is lost")
	}
	end(backstay.Event{})
	if len(ended) != 2 || ended[0] != "y" {
		t.Errorf("ended %q, want the last first", ended)
	}
}

func TestScopeStampsAndSurvivesItsObserver(t *testing.T) {
	var told []backstay.Event
	s := &backstay.Scope{Policy: "payments", Key: "host", Observer: backstay.ObserverFunc(func(_ context.Context, e backstay.Event) {
		told = append(told, e)
		panic("observer")
	})}
	s.Emit(context.Background(), backstay.Event{Kind: backstay.RetryPlanned})
	if len(told) != 2 || told[0].Policy != "payments" || told[0].Key != "host" || told[1].Kind != backstay.CallbackPanicked {
		t.Errorf("told %+v", told)
	}
	var none *backstay.Scope
	none.Emit(context.Background(), backstay.Event{})
	if none.Name() != "" || !none.Silent() || s.Name() != "payments[host]" {
		t.Error("names")
	}
}

func TestContextErrorKeepsTheCause(t *testing.T) {
	if backstay.ContextError(context.Background()) != nil {
		t.Error("alive")
	}
	why := errors.New("user pressed stop")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	if err := backstay.ContextError(ctx); !errors.Is(err, why) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	plain, cancel2 := context.WithCancel(context.Background())
	cancel2()
	if err := backstay.ContextError(plain); err != context.Canceled {
		t.Error(err)
	}
}
