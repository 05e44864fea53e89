package middleware_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
)

// tracer makes spans: who is whose parent, and how each ended.
type tracer struct {
	journal
	mu    sync.Mutex
	spans []*span
}

type span struct {
	parent *span
	began  backstay.Event
	ends   []backstay.Event
}

type spanKey struct{}

func spanOf(ctx context.Context) *span {
	s, _ := ctx.Value(spanKey{}).(*span)
	return s
}

func (tr *tracer) Start(ctx context.Context, e backstay.Event) (context.Context, func(backstay.Event)) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	s := &span{parent: spanOf(ctx), began: e}
	tr.spans = append(tr.spans, s)
	return context.WithValue(ctx, spanKey{}, s), func(e backstay.Event) {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		s.ends = append(s.ends, e)
	}
}

func TestATracersContextsReachTheCall(t *testing.T) {
	tr := new(tracer)
	target := middleware.Standard("test")
	target.Retry = &retry.Config{Base: retry.NoWait}
	p := made(t, target, middleware.WithObserver(new(journal)), middleware.WithObserver(tr))
	caller := &span{}
	ctx := context.WithValue(t.Context(), spanKey{}, caller)
	var within []*span
	look := func(end func(context.Context) (int, error)) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			within = append(within, spanOf(ctx))
			return end(ctx)
		}
	}
	if _, err := middleware.Do(ctx, p, answers(look(fails), look(succeeds))); err != nil {
		t.Fatal(err)
	}
	if len(tr.spans) != 3 || len(within) != 2 {
		t.Fatalf("%d spans, %d attempts", len(tr.spans), len(within))
	}
	call := tr.spans[0]
	if call.parent != caller || call.began.Kind != backstay.CallStarted || call.began.Policy != "test" {
		t.Errorf("the call's span %+v", call)
	}
	for i, s := range tr.spans[1:] {
		if s != within[i] || s.parent != call || s.began.Kind != backstay.AttemptStarted || s.began.Attempt != i+1 {
			t.Errorf("the span of attempt %d: %+v", i+1, s)
		}
	}
	told := tr.of(backstay.AttemptDone, backstay.CallDone)
	for i, s := range []*span{within[0], within[1], call} {
		if len(s.ends) != 1 || s.ends[0].Kind != told[i].Kind || s.ends[0].Attempt != told[i].Attempt || s.ends[0].Outcome != told[i].Outcome || s.ends[0].Policy != "test" {
			t.Errorf("span %d ended with %+v, told was %+v", i, s.ends, told[i])
		}
	}
	if started := tr.of(backstay.CallStarted, backstay.AttemptStarted); started != nil {
		t.Errorf("only tracers are told of beginnings: %+v", started)
	}
}

// An event is told within the span that it belongs to.
func TestEventsAreToldWithinTheirSpan(t *testing.T) {
	tr := new(tracer)
	spans := make(map[backstay.Kind]*span)
	p := made(t, middleware.Standard("test"), middleware.WithObserver(tr), middleware.WithObserver(
		backstay.ObserverFunc(func(ctx context.Context, e backstay.Event) { spans[e.Kind] = spanOf(ctx) })))
	_, _ = middleware.Do(t.Context(), p, succeeds)
	if spans[backstay.CallDone] != tr.spans[0] || spans[backstay.AttemptDone] != tr.spans[1] {
		t.Errorf("told within %v", spans)
	}
}

func TestEachCopyHasASpanOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := new(tracer)
		p := made(t, only(middleware.Config{Hedge: &hedge.Config{Delay: 10 * ms}}), middleware.WithObserver(tr))
		if _, err := middleware.Race(t.Context(), p, nil, slow(50*ms)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // for the loser
		tr.mu.Lock()
		defer tr.mu.Unlock()
		var copies []int
		for _, s := range tr.spans[1:] {
			if s.parent != tr.spans[0] || len(s.ends) != 1 || s.began.Attempt != 1 {
				t.Errorf("span %+v", s)
			}
			copies = append(copies, s.began.Copy)
		}
		if !slices.Equal(copies, []int{1, 2}) {
			t.Errorf("copies %v", copies)
		}
	})
}

// unruly panics where it is told to.
type unruly struct {
	tracer
	starting, ending bool
}

func (u *unruly) Start(ctx context.Context, e backstay.Event) (context.Context, func(backstay.Event)) {
	if u.starting {
		panic("start")
	}
	ctx, end := u.tracer.Start(ctx, e)
	return ctx, func(e backstay.Event) {
		end(e)
		if u.ending {
			panic("end")
		}
	}
}

func TestATracerMayPanic(t *testing.T) {
	for _, u := range []*unruly{{starting: true}, {ending: true}} {
		p := made(t, middleware.Standard("test"), middleware.WithObserver(u))
		if got, err := middleware.Do(t.Context(), p, succeeds); got != 7 || err != nil {
			t.Errorf("%d, %v", got, err)
		}
		if _, err := middleware.Do(t.Context(), p, func(context.Context) (int, error) {
			return 0, backstay.PermanentError(errDown)
		}); !errors.Is(err, errDown) {
			t.Error(err)
		}
		n := u.counts()
		if n[backstay.CallbackPanicked] != 4 || n[backstay.CallDone] != 2 || n[backstay.AttemptDone] != 2 {
			t.Errorf("starting %v, ending %v: events %v", u.starting, u.ending, n)
		}
		if n := p.Bulkhead().InFlight(); n != 0 {
			t.Errorf("%d permits are lost", n)
		}
	}
}
