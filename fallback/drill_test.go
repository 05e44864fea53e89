package fallback_test

import (
	"context"
	"errors"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
)

func never(t *testing.T) backstay.Call[ask, *reply] {
	t.Helper()
	return func(context.Context, ask) (*reply, error) {
		t.Error("the backend was called")
		return nil, nil
	}
}

func TestADrillTakesTheLadderInsteadOfTheCall(t *testing.T) {
	d, scope := watched()
	l := must(t, fallback.Config{DrillShare: 1}, fallback.Rungs(
		rung.Reduced("list price", func(_ context.Context, _ ask, cause error) (*reply, error) {
			if !same(cause, fallback.ErrDrill) {
				t.Errorf("cause %v", cause)
			}
			return &reply{status: 200}, nil
		})), scope)
	ctx, report := backstay.WithReport(t.Context())
	if r, err := run(ctx, l, ask{}, never(t)); err != nil || r.status != 200 {
		t.Errorf("got %v, %v", r, err)
	}
	s := report.Summary()
	if !s.Degraded || s.Rung != "list price" || !same(s.Cause, fallback.ErrDrill) || s.Reason != fallback.ReasonDrill {
		t.Errorf("got %+v", s)
	}
	used := d.of(backstay.FallbackUsed)
	if len(used) != 1 || used[0].Reason != fallback.ReasonDrill || !same(used[0].Err, fallback.ErrDrill) {
		t.Errorf("told %v", used)
	}
}

func TestADrillWithoutAnAnswerIsMadeAsAnOrdinaryCall(t *testing.T) {
	good := &reply{status: 200}
	for name, rungs := range map[string][]fallback.Rung[ask, *reply]{
		"all rungs fail": fallback.Rungs(rung.Reduced("a", answer(500))),
		"a rung panics":  fallback.Rungs(rung.Reduced("a", func(context.Context, ask, error) (*reply, error) { panic("oops") })),
		"a clear error":  fallback.Rungs(rung.Fail(errors.New("sorry"))),
	} {
		d, scope := watched()
		ctx, report := backstay.WithReport(t.Context())
		r, err := run(ctx, must(t, fallback.Config{DrillShare: 1}, rungs, scope), ask{}, always(good, nil))
		if r != good || err != nil {
			t.Errorf("%s: got %v, %v", name, r, err)
		}
		if s := report.Summary(); s.Degraded || len(d.of(backstay.FallbackUsed)) > 0 {
			t.Errorf("%s: told as degraded", name)
		}
	}
}

func TestACallerThatIsGoneIsNotDrilled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := must(t, fallback.Config{DrillShare: 1}, fallback.Rungs(rung.Value(&reply{})))
	if _, err := run(ctx, l, ask{}, always(nil, context.Canceled)); !same(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestASmallShareIsDrilledNowAndThen(t *testing.T) {
	l := must(t, fallback.Config{DrillShare: 0.1}, fallback.Rungs(fallback.Value(1)))
	drilled := 0
	for range 20_000 {
		got, _ := fallback.Do(t.Context(), l, func(context.Context) (int, error) { return 0, nil })
		drilled += got
	}
	// Ten standard deviations to either side of 2,000.
	if drilled < 1576 || drilled > 2424 {
		t.Errorf("%d of 20,000 calls", drilled)
	}
}

func TestADrillServesWhatIsCached(t *testing.T) {
	l := must(t, fallback.Config{DrillShare: 1}, fallback.Rungs(
		rung.Cached(func(_ context.Context, q ask) string { return q.key }, nil)))
	first := &reply{status: 200}
	// The first drill finds nothing: the call is made, and its answer kept.
	if r, err := run(t.Context(), l, ask{key: "k"}, always(first, nil)); r != first || err != nil {
		t.Fatalf("got %v, %v", r, err)
	}
	if r, err := run(t.Context(), l, ask{key: "k"}, never(t)); r != first || err != nil {
		t.Errorf("got %v, %v", r, err)
	}
}
