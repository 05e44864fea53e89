package fallback_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
)

func keyOf(_ context.Context, q ask) string { return q.key }

func ok(text string) *reply { return &reply{status: 200, text: text} }

// cached is a ladder of nothing but a cache without refreshes.
func cached(t *testing.T, c fallback.CacheConfig, opts ...fallback.Option) *fallback.Ladder[ask, *reply] {
	t.Helper()
	return must(t, fallback.Config{Cache: c}, fallback.Rungs(rung.Cached(keyOf, nil)), opts...)
}

func TestTheLastGoodValueIsServedWithItsAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := cached(t, fallback.CacheConfig{})
		for _, text := range []string{"old", "new"} {
			_, _ = run(t.Context(), l, ask{key: "k"}, always(ok(text), nil))
			time.Sleep(time.Minute)
		}
		ctx, report := backstay.WithReport(t.Context())
		r, err := run(ctx, l, ask{key: "k"}, always(nil, errDown))
		if err != nil || r.text != "new" {
			t.Fatalf("got %v, %v", r, err)
		}
		s := report.Summary()
		if !s.Degraded || s.Rung != "cached" || s.Age != time.Minute || !same(s.Cause, errDown) {
			t.Errorf("got %+v", s)
		}
	})
}

func TestAValueIsServedUpToItsMaxAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := cached(t, fallback.CacheConfig{MaxAge: time.Minute})
		_, _ = run(t.Context(), l, ask{key: "k"}, always(ok("v"), nil))
		time.Sleep(time.Minute)
		if r, err := run(t.Context(), l, ask{key: "k"}, always(nil, errDown)); err != nil || r.text != "v" {
			t.Errorf("at its age: got %v, %v", r, err)
		}
		time.Sleep(time.Nanosecond)
		for _, why := range []string{"too old", "nothing is cached"} { // it has been dropped
			_, err := run(t.Context(), l, ask{key: "k"}, always(nil, errDown))
			if !errors.Is(err, errDown) || !strings.Contains(err.Error(), why) {
				t.Errorf("past its age: got %v", err)
			}
		}
	})
}

func TestTheDefaultMaxAgeIsFiveMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := cached(t, fallback.CacheConfig{})
		_, _ = run(t.Context(), l, ask{key: "k"}, always(ok("v"), nil))
		time.Sleep(5 * time.Minute)
		if _, err := run(t.Context(), l, ask{key: "k"}, always(nil, errDown)); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Nanosecond)
		if _, err := run(t.Context(), l, ask{key: "k"}, always(nil, errDown)); err == nil {
			t.Error("still served")
		}
	})
}

func TestOnlyGoodAnswersOfTheSameKeyAreServed(t *testing.T) {
	l := cached(t, fallback.CacheConfig{})
	_, _ = run(t.Context(), l, ask{key: "a"}, always(ok("a"), nil))
	_, _ = run(t.Context(), l, ask{key: ""}, always(ok("none"), nil))
	_, _ = run(t.Context(), l, ask{key: "b"}, always(&reply{status: 404}, nil))
	_, _ = run(t.Context(), l, ask{key: "a"}, always(&reply{status: 503}, nil)) // served "a", kept nothing
	for _, key := range []string{"", "b", "c"} {
		if r, err := run(t.Context(), l, ask{key: key}, always(nil, errDown)); err == nil {
			t.Errorf("%q: got %v", key, r)
		}
	}
	if r, err := run(t.Context(), l, ask{key: "a"}, always(nil, errDown)); err != nil || r.text != "a" {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestWhatARungAnsweredIsNotCached(t *testing.T) {
	l := must(t, fallback.Config{}, fallback.Rungs(rung.Cached(keyOf, nil), rung.Reduced("reduced", answer(200))))
	for range 2 {
		ctx, report := backstay.WithReport(t.Context())
		_, _ = run(ctx, l, ask{key: "k"}, always(nil, errDown))
		if got := report.Summary().Rung; got != "reduced" {
			t.Errorf("answered by %q", got)
		}
	}
}

func TestASuccessWithAnErrorIsNotCached(t *testing.T) {
	l := cached(t, fallback.CacheConfig{})
	partial := backstay.Mark(errDown, backstay.Outcome{Class: backstay.Success})
	if _, err := run(t.Context(), l, ask{key: "k"}, always(ok("half"), partial)); !same(err, partial) {
		t.Errorf("got %v", err)
	}
	if r, err := run(t.Context(), l, ask{key: "k"}, always(nil, errDown)); err == nil {
		t.Errorf("got %v", r)
	}
}

func TestTheLeastRecentlyUsedKeyMakesRoom(t *testing.T) {
	l := cached(t, fallback.CacheConfig{MaxEntries: 3})
	fails := func(key string) bool {
		_, err := run(t.Context(), l, ask{key: key}, always(nil, errDown))
		return err != nil
	}
	for _, key := range []string{"a", "b", "c"} {
		_, _ = run(t.Context(), l, ask{key: key}, always(ok(key), nil))
	}
	fails("a")                                                      // serving is a use
	_, _ = run(t.Context(), l, ask{key: "b"}, always(ok("b"), nil)) // so is recording
	for i := range 2 {
		_, _ = run(t.Context(), l, ask{key: fmt.Sprint(i)}, always(ok("new"), nil))
	}
	for key, gone := range map[string]bool{"a": true, "b": false, "c": true, "0": false, "1": false} {
		if fails(key) != gone {
			t.Errorf("%s: gone should be %v", key, gone)
		}
	}
}

func TestACallWithoutAKeyTakesNobodysPlace(t *testing.T) {
	l := cached(t, fallback.CacheConfig{MaxEntries: 1})
	_, _ = run(t.Context(), l, ask{key: "k"}, always(ok("v"), nil))
	_, _ = run(t.Context(), l, ask{key: ""}, always(ok("none"), nil))
	if r, err := run(t.Context(), l, ask{key: "k"}, always(nil, errDown)); err != nil || r.text != "v" {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestTheDefaultBoundIsAThousandKeys(t *testing.T) {
	l := must(t, fallback.Config{}, fallback.Rungs(
		fallback.For[int, int]{}.Cached(func(_ context.Context, q int) string { return fmt.Sprint(q) }, nil)))
	for i := range 1001 {
		_, _ = fallback.DoFor(t.Context(), l, i, func(_ context.Context, q int) (int, error) { return q, nil })
	}
	for i, fails := range map[int]bool{0: true, 1: false, 1000: false} {
		got, err := fallback.DoFor(t.Context(), l, i, func(context.Context, int) (int, error) { return 0, errDown })
		if (err != nil) != fails || (err == nil && got != i) {
			t.Errorf("%d: got %d, %v", i, got, err)
		}
	}
}

func TestEachLadderHasACacheOfItsOwn(t *testing.T) {
	rungs := fallback.Rungs(rung.Cached(keyOf, nil))
	a, b := must(t, fallback.Config{}, rungs), must(t, fallback.Config{}, rungs)
	_, _ = run(t.Context(), a, ask{key: "k"}, always(ok("a"), nil))
	if r, err := run(t.Context(), b, ask{key: "k"}, always(nil, errDown)); err == nil {
		t.Errorf("got %v", r)
	}
}

func TestThePlainCacheKeepsOneValueOrOneAKey(t *testing.T) {
	type tenant struct{}
	for name, key := range map[string]func(context.Context) string{
		"one value": nil,
		"one a key": func(ctx context.Context) string { return ctx.Value(tenant{}).(string) },
	} {
		t.Run(name, func(t *testing.T) {
			l := must(t, fallback.Config{}, fallback.Rungs(fallback.Cached[string](key, nil)))
			mine := context.WithValue(t.Context(), tenant{}, "mine")
			yours := context.WithValue(t.Context(), tenant{}, "yours")
			_, _ = fallback.Do(mine, l, func(context.Context) (string, error) { return "v", nil })
			down := func(context.Context) (string, error) { return "", errDown }
			if got, err := fallback.Do(mine, l, down); got != "v" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			if _, err := fallback.Do(yours, l, down); (err == nil) != (key == nil) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The panics of a cache's functions cost neither the answer nor the ladder.
func TestAPanicOfTheCachesFunctionsIsTold(t *testing.T) {
	on := ""
	at := func(where string) {
		if on == where {
			panic(where)
		}
	}
	d, scope := watched()
	l := must(t, fallback.Config{}, fallback.Rungs(fallback.Cache[ask, *reply, string]{
		Key:  func(_ context.Context, q ask) string { at("key"); return q.key },
		Save: func(_ context.Context, _ ask, r *reply, keep func(string)) *reply { at("save"); keep(r.text); return r },
		Load: func(_ context.Context, _ ask, s string, _ time.Duration) (*reply, error) {
			at("load")
			return ok(s), nil
		},
	}.Rung(), rung.Value(ok("value"))), scope)
	for _, c := range []struct {
		on   string
		err  error
		want string
	}{
		{"key", nil, "live"}, {"save", nil, "live"}, {"", errDown, "value"}, // nothing was kept
		{"", nil, "live"},
		{"key", errDown, "value"}, {"load", errDown, "value"}, {"", errDown, "live"},
	} {
		on = c.on
		r, err := run(t.Context(), l, ask{key: "k"}, always(ok("live"), c.err))
		if err != nil || r.text != c.want {
			t.Errorf("%+v: got %v, %v", c, r, err)
		}
	}
	if told := d.of(backstay.CallbackPanicked); len(told) != 4 {
		t.Errorf("told %v", told)
	}
}

func TestALoadThatFailsLeadsToTheNextRung(t *testing.T) {
	l := must(t, fallback.Config{}, fallback.Rungs(fallback.Cache[ask, *reply, string]{
		Key:  keyOf,
		Save: func(_ context.Context, _ ask, r *reply, keep func(string)) *reply { keep(r.text); return r },
		Load: func(context.Context, ask, string, time.Duration) (*reply, error) { return nil, errors.New("no") },
	}.Rung(), rung.Value(ok("value"))))
	_, _ = run(t.Context(), l, ask{key: "k"}, always(ok("live"), nil))
	if r, err := run(t.Context(), l, ask{key: "k"}, always(nil, errDown)); err != nil || r.text != "value" {
		t.Errorf("got %v, %v", r, err)
	}
}
