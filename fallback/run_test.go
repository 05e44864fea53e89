package fallback_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
)

func TestRungsAreAskedInOrderWithTheCauseUntilOneAnswers(t *testing.T) {
	var asked []string
	step := func(name string, err error) fallback.Rung[ask, *reply] {
		return rung.Reduced(name, func(_ context.Context, q ask, cause error) (*reply, error) {
			if q.key != "apple" || !same(cause, errDown) {
				t.Errorf("%s got %v, %v", name, q, cause)
			}
			asked = append(asked, name)
			return &reply{status: 200, text: name}, err
		})
	}
	l := must(t, fallback.Config{}, fallback.Rungs(step("a", errors.New("no")), step("b", nil), step("c", nil)))
	r, err := run(t.Context(), l, ask{key: "apple"}, always(nil, errDown))
	if err != nil || r.text != "b" || !slices.Equal(asked, []string{"a", "b"}) {
		t.Errorf("got %v, %v, asked %v", r, err, asked)
	}
}

func TestASuccessAsksNoRung(t *testing.T) {
	l := must(t, fallback.Config{}, fallback.Rungs(rung.Value(&reply{})))
	want := &reply{status: 200}
	if r, err := run(t.Context(), l, ask{}, always(want, nil)); r != want || err != nil || want.discarded != 0 {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestThePlainFormsHandOnCtxAndCause(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "value")
	f := func(ctx context.Context, cause error) (int, error) {
		if ctx.Value(key{}) != "value" || !same(cause, errDown) {
			t.Error("ctx or cause got lost")
		}
		return 7, nil
	}
	for name, r := range map[string]fallback.Rung[struct{}, int]{
		"reduced": fallback.Reduced("x", f), "deferred": fallback.Deferred("x", f), "value": fallback.Value(7),
	} {
		got, err := fallback.Do(ctx, must(t, fallback.Config{}, fallback.Rungs(r)), func(context.Context) (int, error) { return 0, errDown })
		if got != 7 || err != nil {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

func TestNoLadderMeansThatTheCallIsJustMade(t *testing.T) {
	var l *fallback.Ladder[ask, *reply]
	bad := &reply{status: 500}
	if r, err := run(t.Context(), l, ask{}, always(bad, nil)); r != bad || err != nil {
		t.Errorf("got %v, %v", r, err)
	}
	if _, err := run(t.Context(), l, ask{}, always(nil, errDown)); !same(err, errDown) {
		t.Errorf("got %v", err)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestAFailedAnswerIsDiscardedIfARungAnswersAndReturnedIfNoneDoes(t *testing.T) {
	failing := rung.Reduced("broken", func(context.Context, ask, error) (*reply, error) { return nil, errors.New("no") })
	for name, c := range map[string]struct {
		rungs     []fallback.Rung[ask, *reply]
		same      bool
		discarded int
		fails     bool
	}{
		"a rung answers":    {rungs: fallback.Rungs(failing, rung.Value(&reply{status: 200})), discarded: 1},
		"none answers":      {rungs: fallback.Rungs(failing), same: true},
		"there is none":     {same: true},
		"a clear error":     {rungs: fallback.Rungs(failing, rung.Fail(errors.New("sorry"))), discarded: 1, fails: true},
		"only a clear one":  {rungs: fallback.Rungs(rung.Fail(errors.New("sorry"))), discarded: 1, fails: true},
		"a value of a 503":  {rungs: fallback.Rungs(rung.Value(&reply{status: 503})), discarded: 1},
		"an answer of 404":  {rungs: fallback.Rungs(rung.Reduced("r", answer(404))), discarded: 1},
		"an answer of 500":  {rungs: fallback.Rungs(rung.Reduced("r", answer(500))), same: true},
		"an ack that fails": {rungs: fallback.Rungs(rung.Deferred("r", answer(503))), same: true},
	} {
		t.Run(name, func(t *testing.T) {
			bad := &reply{status: 503}
			r, err := run(t.Context(), must(t, fallback.Config{}, c.rungs), ask{}, always(bad, nil))
			if (r == bad) != c.same || (err != nil) != c.fails || bad.discarded != c.discarded {
				t.Errorf("got %+v, %v; the failed answer was discarded %d times", r, err, bad.discarded)
			}
		})
	}
}

func answer(status int) func(context.Context, ask, error) (*reply, error) {
	return func(context.Context, ask, error) (*reply, error) { return &reply{status: status}, nil }
}

func TestARungsFailedAnswerIsDiscardedAndLeadsToTheNext(t *testing.T) {
	bad, good := &reply{status: 500}, &reply{status: 200}
	l := must(t, fallback.Config{}, fallback.Rungs(
		rung.Reduced("replica", func(context.Context, ask, error) (*reply, error) { return bad, nil }), rung.Value(good)))
	r, err := run(t.Context(), l, ask{}, always(nil, errDown))
	if r != good || err != nil || bad.discarded != 1 {
		t.Errorf("got %v, %v, discarded %d", r, err, bad.discarded)
	}
}

func TestRungsAlwaysGetACause(t *testing.T) {
	var cause error
	l := must(t, fallback.Config{}, fallback.Rungs(
		rung.Reduced("see", func(_ context.Context, _ ask, c error) (*reply, error) { cause = c; return &reply{status: 200}, nil })))
	_, _ = run(t.Context(), l, ask{}, always(&reply{status: 503}, nil))
	ce, ok := errors.AsType[*fallback.CauseError](cause)
	if !ok || ce.Outcome().Class != backstay.Overload || backstay.Classify(cause) != ce.Outcome() ||
		cause.Error() != "the answer was judged overload (retry after 5s)" {
		t.Errorf("got %v", cause)
	}
	_, _ = run(t.Context(), l, ask{}, always(&reply{status: 500}, nil))
	if cause.Error() != "the answer was judged transient" {
		t.Errorf("got %v", cause)
	}
}

func TestWhereNoneAnswersTheOriginalErrorIsKeptAndTheRungsErrorsAreTold(t *testing.T) {
	inRung := errors.New("no such file")
	_, scope := watched()
	l := must(t, fallback.Config{}, fallback.Rungs(
		rung.Cached(func(context.Context, ask) string { return "" }, nil),
		rung.Reduced("file", func(context.Context, ask, error) (*reply, error) { return nil, inRung })), scope)
	own := &reply{status: 1}
	r, err := run(t.Context(), l, ask{}, always(own, backstay.RetryAfter(errDown, 3)))
	e, ok := errors.AsType[*fallback.Error](err)
	if !ok || r != own || own.discarded != 0 {
		t.Fatalf("got %v, %v", r, err)
	}
	if !errors.Is(err, errDown) || !errors.Is(err, fallback.ErrNoAnswer) || errors.Is(err, inRung) {
		t.Errorf("%v matches the wrong errors", err)
	}
	if o := backstay.Classify(err); o.Class != backstay.Overload || o.RetryAfter != 3 {
		t.Errorf("judged %v", o)
	}
	if e.Name != "prices" || len(e.Rungs) != 2 || e.Rungs[1] != (fallback.RungError{Rung: "file", Err: inRung}) {
		t.Errorf("got %+v", e)
	}
	want := "fallback prices: backend down (no rung answered: cached: nothing is cached; file: no such file)"
	if err.Error() != want {
		t.Errorf("got %q", err)
	}
}

func TestAClearErrorComesWithItsCause(t *testing.T) {
	sorry := errors.New("prices are unavailable")
	l := must(t, fallback.Config{}, fallback.Rungs(rung.Fail(sorry)))
	refused := backstay.Mark(errDown, backstay.Outcome{Class: backstay.Rejected})
	_, err := run(t.Context(), l, ask{}, always(nil, refused))
	if !errors.Is(err, sorry) || !errors.Is(err, errDown) || backstay.Classify(err).Class != backstay.Rejected {
		t.Errorf("got %v", err)
	}
	if want := "fallback: prices are unavailable: backend down"; err.Error() != want {
		t.Errorf("got %q", err)
	}
	marked := must(t, fallback.Config{}, fallback.Rungs(rung.Fail(backstay.PermanentError(sorry))))
	_, err = run(t.Context(), marked, ask{}, always(nil, refused))
	if backstay.Classify(err).Class != backstay.Permanent {
		t.Errorf("a mark on the clear error does not count: %v", err)
	}
	_, err = run(t.Context(), l, ask{}, always(&reply{status: 503}, nil))
	if o := backstay.Classify(err); o.Class != backstay.Overload || !errors.Is(err, sorry) {
		t.Errorf("got %v", err)
	}
}

func TestACallerThatGaveUpGetsItsOwnError(t *testing.T) {
	l := must(t, fallback.Config{}, fallback.Rungs(rung.Value(&reply{status: 200})))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	bad := &reply{status: 503}
	for name, next := range map[string]backstay.Call[ask, *reply]{
		"an error":   always(nil, errDown),
		"a refusal":  always(nil, backstay.ErrRejected),
		"its cancel": always(nil, context.Canceled),
	} {
		_, want := next(ctx, ask{})
		if r, err := run(ctx, l, ask{}, next); r != nil || !same(err, want) {
			t.Errorf("%s: got %v, %v", name, r, err)
		}
	}
	if r, err := run(ctx, l, ask{}, always(bad, nil)); r != bad || err != nil || bad.discarded != 0 {
		t.Errorf("an answer: got %v, %v", r, err)
	}
	// Cancelled below, while the caller still waits.
	if _, err := run(t.Context(), l, ask{}, always(nil, context.Canceled)); !same(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestACallerThatGivesUpDuringARungEndsTheLadder(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l := must(t, fallback.Config{}, fallback.Rungs(
		rung.Reduced("slow", func(ctx context.Context, _ ask, _ error) (*reply, error) { cancel(); return nil, ctx.Err() }),
		rung.Reduced("next", func(context.Context, ask, error) (*reply, error) { t.Error("asked"); return nil, nil })))
	_, err := run(ctx, l, ask{}, always(nil, errDown))
	if !errors.Is(err, errDown) {
		t.Errorf("got %v", err)
	}
}

func TestTheCallersMistakeStaysOne(t *testing.T) {
	l := must(t, fallback.Config{}, fallback.Rungs(rung.Value(&reply{status: 200})))
	notFound, mistake := &reply{status: 404}, backstay.PermanentError(errDown)
	if r, err := run(t.Context(), l, ask{}, always(notFound, nil)); r != notFound || err != nil {
		t.Errorf("got %v, %v", r, err)
	}
	if _, err := run(t.Context(), l, ask{}, always(nil, mistake)); !same(err, mistake) {
		t.Errorf("got %v", err)
	}
}

func TestAPanicOfARungIsToldAndLeadsToTheNext(t *testing.T) {
	d, scope := watched()
	l := must(t, fallback.Config{}, fallback.Rungs(
		rung.Reduced("bad", func(context.Context, ask, error) (*reply, error) { panic("oops") }),
		rung.Reduced("worse", func(context.Context, ask, error) (*reply, error) { panic(errDown) }),
		rung.Value(&reply{status: 200})), scope)
	r, err := run(t.Context(), l, ask{}, always(nil, errors.New("first")))
	told := d.of(backstay.CallbackPanicked)
	if err != nil || r.status != 200 || len(told) != 2 {
		t.Fatalf("got %v, %v, told %v", r, err, told)
	}
	if told[0].Err.Error() != "fallback: rung bad panicked: oops" || told[0].Policy != "prices" || !errors.Is(told[1].Err, errDown) {
		t.Errorf("told %v", told)
	}
}

func TestAPanicOfTheCallPassesThrough(t *testing.T) {
	l := must(t, fallback.Config{}, fallback.Rungs(rung.Value(&reply{status: 200})))
	defer func() {
		if v := recover(); v != "mine" {
			t.Errorf("recovered %v", v)
		}
	}()
	_, _ = run(t.Context(), l, ask{}, func(context.Context, ask) (*reply, error) { panic("mine") })
}

func TestGoexitOfARungFreesTheFailedAnswer(t *testing.T) {
	l := must(t, fallback.Config{}, fallback.Rungs(
		rung.Reduced("exit", func(context.Context, ask, error) (*reply, error) { runtime.Goexit(); return nil, nil })))
	bad, ended := &reply{status: 503}, make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = run(t.Context(), l, ask{}, always(bad, nil))
		t.Error("Goexit was swallowed")
	}()
	<-ended
	if bad.discarded != 1 {
		t.Errorf("discarded %d times", bad.discarded)
	}
}

func TestAPanicOfThePredicateIsToldAndTheDefaultDecides(t *testing.T) {
	d, scope := watched()
	l := must(t, fallback.Config{}, fallback.Rungs(rung.Value(&reply{status: 200})), scope,
		fallback.When(func(backstay.Outcome, error) bool { panic("oops") }))
	if r, err := run(t.Context(), l, ask{}, always(nil, errDown)); err != nil || r.status != 200 {
		t.Errorf("got %v, %v", r, err)
	}
	if r, err := run(t.Context(), l, ask{}, always(&reply{status: 404}, nil)); err != nil || r.status != 404 {
		t.Errorf("got %v, %v", r, err)
	}
	told := d.of(backstay.CallbackPanicked)
	if len(told) != 2 || !strings.Contains(told[0].Err.Error(), "When") {
		t.Errorf("told %v", told)
	}
}

func TestARungMayUseTheLadderItself(t *testing.T) {
	var l *fallback.Ladder[ask, *reply]
	l = must(t, fallback.Config{}, fallback.Rungs(
		rung.Reduced("parent", func(ctx context.Context, q ask, cause error) (*reply, error) {
			if q.key == "root" {
				return nil, cause
			}
			return run(ctx, l, ask{key: "root"}, always(&reply{status: 200, text: "the root's"}, nil))
		})))
	if r, err := run(t.Context(), l, ask{key: "leaf"}, always(nil, errDown)); err != nil || r.text != "the root's" {
		t.Errorf("got %v, %v", r, err)
	}
}
