package fallback_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
)

// paths returns where the faults in err are.
func paths(err error) (all []string) {
	var walk func(error)
	walk = func(err error) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				walk(e)
			}
		} else if f, ok := errors.AsType[*backstay.FieldError](err); ok {
			all = append(all, f.Path)
		}
	}
	walk(err)
	slices.Sort(all)
	return all
}

func TestValidateTellsEveryFaultAtOnce(t *testing.T) {
	c := fallback.Config{FailClosed: true, DrillShare: math.NaN(), Cache: fallback.CacheConfig{
		MaxEntries: -1, MaxAge: -1, RefreshTimeout: -1, RefreshEvery: -1, MaxRefreshes: -1,
	}}
	want := []string{"cache.max_age", "cache.max_entries", "cache.max_refreshes", "cache.refresh_every",
		"cache.refresh_timeout", "drill_share", "fail_closed"}
	if got := paths(c.Validate()); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAConfigIsValidWithin(t *testing.T) {
	for name, c := range map[string]struct {
		config fallback.Config
		valid  bool
	}{
		"the zero value":        {valid: true},
		"a full share":          {config: fallback.Config{DrillShare: 1}, valid: true},
		"more than a share":     {config: fallback.Config{DrillShare: 1.0001}},
		"less than no share":    {config: fallback.Config{DrillShare: -0.0001}},
		"an endless share":      {config: fallback.Config{DrillShare: math.Inf(1)}},
		"fail closed":           {config: fallback.Config{FailClosed: true}, valid: true},
		"fail closed in drills": {config: fallback.Config{FailClosed: true, DrillShare: 0.1}},
		"the largest numbers": {config: fallback.Config{Cache: fallback.CacheConfig{MaxEntries: math.MaxInt,
			MaxAge: math.MaxInt64, RefreshTimeout: math.MaxInt64, RefreshEvery: math.MaxInt64, MaxRefreshes: math.MaxInt}}, valid: true},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.config.Validate(); (err == nil) != c.valid {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestNewTellsEveryFaultOfTheRungsAtOnce(t *testing.T) {
	sku := func(_ context.Context, q ask) string { return q.key }
	_, err := fallback.New(fallback.Config{FailClosed: true, Cache: fallback.CacheConfig{MaxAge: -1}}, fallback.Rungs(
		rung.Cached(nil, nil),
		rung.Reduced("", nil),
		rung.Cached(sku, nil),
		rung.Fail(nil),
		fallback.Cache[ask, *reply, int]{}.Rung(),
		rung.Deferred(strings.Repeat("x", 65), always2),
	))
	want := []string{
		"fallback.cache.max_age", "fallback.fail_closed",
		"fallback.rungs[0].key",
		"fallback.rungs[1].answer", "fallback.rungs[1].name",
		"fallback.rungs[2]", "fallback.rungs[2].name", // a second cache, of the same name
		"fallback.rungs[3]", "fallback.rungs[3].err", // not the last one
		"fallback.rungs[4]", "fallback.rungs[4].key", "fallback.rungs[4].load", "fallback.rungs[4].name", "fallback.rungs[4].save",
		"fallback.rungs[5].name",
	}
	if got := paths(err); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func always2(context.Context, ask, error) (*reply, error) { return &reply{status: 202}, nil }

func TestDrillsNeedRungs(t *testing.T) {
	_, err := fallback.New[ask, *reply](fallback.Config{DrillShare: 0.1}, nil)
	if got := paths(err); !slices.Equal(got, []string{"fallback.drill_share"}) {
		t.Errorf("got %v", err)
	}
}

func TestAFailClosedCallIsMadeAndItsFailureIsItsOwn(t *testing.T) {
	l := must[ask, *reply](t, fallback.Config{FailClosed: true}, nil)
	if _, err := run(t.Context(), l, ask{}, always(nil, errDown)); !same(err, errDown) {
		t.Errorf("got %v", err)
	}
}

func TestConfigIsReadBySnakeCaseNames(t *testing.T) {
	var c fallback.Config
	err := json.Unmarshal([]byte(`{"fail_closed":true,"drill_share":0.5,"cache":{"max_entries":1,"max_age":2,
		"refresh_timeout":3,"refresh_every":4,"max_refreshes":5}}`), &c)
	want := fallback.Config{FailClosed: true, DrillShare: 0.5, Cache: fallback.CacheConfig{MaxEntries: 1, MaxAge: 2,
		RefreshTimeout: 3, RefreshEvery: 4, MaxRefreshes: 5}}
	if err != nil || c != want {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestLaterChangesOfTheSliceDoNotReachTheLadder(t *testing.T) {
	rungs := fallback.Rungs(fallback.Value("first"))
	l := must(t, fallback.Config{}, rungs)
	rungs[0] = fallback.Value("second")
	got, err := fallback.Do(t.Context(), l, func(context.Context) (string, error) { return "", errDown })
	if got != "first" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestEveryConstructorWithoutAFunctionIsAFault(t *testing.T) {
	for name, r := range map[string]fallback.Rung[struct{}, int]{
		"reduced":  fallback.Reduced[int]("a", nil),
		"deferred": fallback.Deferred[int]("a", nil),
		"literal":  {Name: "a"},
		"fail":     fallback.Fail[int](nil),
	} {
		if _, err := fallback.New(fallback.Config{}, fallback.Rungs(r)); err == nil {
			t.Errorf("%s: no fault", name)
		} else if f, ok := errors.AsType[*backstay.FieldError](err); !ok || !strings.HasPrefix(f.Path, "fallback.rungs[0].") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestDefaultsAreAsDocumented(t *testing.T) {
	if fallback.DefaultMaxEntries != 1000 || fallback.DefaultMaxAge != 5*time.Minute || fallback.DefaultMaxRefreshes != 8 ||
		fallback.DefaultRefreshEvery != time.Second || fallback.DefaultRefreshTimeout != 10*time.Second {
		t.Error("doc.go and the field comments tell other defaults")
	}
}
