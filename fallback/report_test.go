package fallback_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
)

// Acceptance case C61.
func TestC61_TheReportSaysWhichRungAnsweredAndWhy(t *testing.T) {
	d, scope := watched()
	l := must(t, fallback.Config{}, fallback.Rungs(
		rung.Reduced("replica", func(context.Context, ask, error) (*reply, error) { return nil, errors.New("no") }),
		rung.Reduced("list price", answer(200)), // rung 2
	), scope)
	ctx, report := backstay.WithReport(t.Context())
	if _, err := run(ctx, l, ask{}, always(nil, errDown)); err != nil {
		t.Fatal(err)
	}
	s := report.Summary()
	if !s.Degraded || s.Rung != "list price" || !same(s.Cause, errDown) || s.Reason != "" || s.Age != 0 {
		t.Errorf("got %+v", s)
	}
	if !strings.HasSuffix(s.String(), "degraded: list price") {
		t.Errorf("got %q", s)
	}
	used := d.of(backstay.FallbackUsed)
	if len(used) != 1 || used[0].Rung != "list price" || !same(used[0].Err, errDown) || used[0].Reason != "" ||
		used[0].Outcome.Class != backstay.Transient || used[0].Policy != "prices" {
		t.Errorf("told %+v", used)
	}
}

func TestWhereNothingDegradedTheReportSaysSo(t *testing.T) {
	d, scope := watched()
	failing := fallback.Rungs(rung.Reduced("a", answer(500)))
	for name, c := range map[string]struct {
		rungs []fallback.Rung[ask, *reply]
		next  backstay.Call[ask, *reply]
	}{
		"success":       {failing, always(&reply{status: 200}, nil)},
		"none answers":  {failing, always(nil, errDown)},
		"a clear error": {fallback.Rungs(rung.Fail(errors.New("sorry"))), always(nil, errDown)},
	} {
		ctx, report := backstay.WithReport(t.Context())
		_, _ = run(ctx, must(t, fallback.Config{}, c.rungs, scope), ask{}, c.next)
		if s := report.Summary(); s.Degraded || s.Rung != "" || s.Cause != nil {
			t.Errorf("%s: got %+v", name, s)
		}
	}
	if used := d.of(backstay.FallbackUsed); len(used) != 0 {
		t.Errorf("told %v", used)
	}
}
