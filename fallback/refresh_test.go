package fallback_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
)

// refreshing is a ladder of a cache with refreshes, which knows "k" (and the
// other keys given) by the value "old".
func refreshing(t *testing.T, c fallback.CacheConfig, refresh backstay.Call[ask, *reply], opts ...fallback.Option) *fallback.Ladder[ask, *reply] {
	t.Helper()
	l := must(t, fallback.Config{Cache: c}, fallback.Rungs(rung.Cached(keyOf, refresh)), opts...)
	know(t, l, "k")
	return l
}

func know(t *testing.T, l *fallback.Ladder[ask, *reply], keys ...string) {
	t.Helper()
	for _, key := range keys {
		_, _ = run(t.Context(), l, ask{key: key}, always(ok("old"), nil))
	}
}

// stale makes a call that fails, and returns the text of the cached value.
func stale(t *testing.T, l *fallback.Ladder[ask, *reply], key string) string {
	t.Helper()
	r, err := run(t.Context(), l, ask{key: key}, always(nil, errDown))
	if err != nil {
		t.Error(err)
		return ""
	}
	return r.text
}

func TestAStaleAnswerBringsAFreshValueForTheNextCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := refreshing(t, fallback.CacheConfig{}, func(context.Context, ask) (*reply, error) {
			time.Sleep(time.Second)
			return ok("fresh"), nil
		})
		begin := time.Now()
		if got := stale(t, l, "k"); got != "old" || time.Since(begin) != 0 {
			t.Errorf("got %q after %v", got, time.Since(begin))
		}
		time.Sleep(3 * time.Second)
		ctx, report := backstay.WithReport(t.Context())
		r, err := run(ctx, l, ask{key: "k"}, always(nil, errDown))
		if err != nil || r.text != "fresh" || report.Summary().Age != 2*time.Second {
			t.Errorf("got %v, %v, aged %v", r, err, report.Summary().Age)
		}
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestAThousandCallersAreServedAtOnceAndOneRefreshIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refreshes atomic.Int32
		var held atomic.Bool
		l := refreshing(t, fallback.CacheConfig{}, func(context.Context, ask) (*reply, error) {
			refreshes.Add(1)
			held.Store(true)
			time.Sleep(5 * time.Second)
			held.Store(false)
			return ok("fresh"), nil
		})
		var served sync.WaitGroup
		begin := time.Now()
		for range 1000 {
			served.Go(func() {
				if got := stale(t, l, "k"); got != "old" {
					t.Errorf("got %q", got)
				}
			})
		}
		served.Wait()
		synctest.Wait()
		if time.Since(begin) != 0 || refreshes.Load() != 1 || !held.Load() {
			t.Errorf("after %v, %d refreshes", time.Since(begin), refreshes.Load())
		}
		_ = l.Close(t.Context())
	})
}

func TestARefreshedKeyRestsBeforeTheNextRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refreshes atomic.Int32
		l := refreshing(t, fallback.CacheConfig{RefreshEvery: time.Minute}, func(context.Context, ask) (*reply, error) {
			refreshes.Add(1)
			time.Sleep(2 * time.Second)
			return nil, errDown // the pause is for failing ones above all
		})
		for range 4*60 + 2 { // to the end of 4 rounds of 62 s, but for 6 s
			stale(t, l, "k")
			time.Sleep(time.Second)
		}
		if got := refreshes.Load(); got != 4 {
			t.Errorf("%d refreshes", got)
		}
	})
}

func TestARefreshHasTheCallersValuesButNotItsEndNorItsReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type user struct{}
		var checked atomic.Bool
		l := refreshing(t, fallback.CacheConfig{RefreshTimeout: 4 * time.Second}, func(ctx context.Context, q ask) (*reply, error) {
			backstay.ReportFrom(ctx).Begin() // as a pipeline does
			backstay.Note(ctx, func(s *backstay.Summary) { s.Attempts = 99 })
			time.Sleep(time.Second)
			end, ok := ctx.Deadline()
			if ctx.Err() != nil || ctx.Value(user{}) != "me" || !ok || time.Until(end) != 3*time.Second {
				t.Errorf("ctx: %v, value %v, ends in %v", ctx.Err(), ctx.Value(user{}), time.Until(end))
			}
			if q != (ask{key: "k", fork: 2}) {
				t.Errorf("not a fork of the request: %v", q)
			}
			checked.Store(true)
			return nil, errDown
		})
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), user{}, "me"))
		ctx, report := backstay.WithReport(ctx)
		_, _ = run(ctx, l, ask{key: "k"}, always(nil, errDown))
		cancel()
		time.Sleep(2 * time.Second)
		if s := report.Summary(); !checked.Load() || s.Attempts != 0 || !s.Degraded {
			t.Errorf("checked %v, report %+v", checked.Load(), s)
		}
	})
}

func TestARefreshThatPanicsIsToldAndAnotherIsMadeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, scope := watched()
		var refreshes atomic.Int32
		l := refreshing(t, fallback.CacheConfig{}, func(context.Context, ask) (*reply, error) {
			if refreshes.Add(1) == 1 {
				panic("oops")
			}
			return ok("fresh"), nil
		}, scope)
		for _, want := range []string{"old", "old", "fresh"} {
			if got := stale(t, l, "k"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			time.Sleep(2 * time.Second)
		}
		told := d.of(backstay.CallbackPanicked)
		if len(told) != 1 || !strings.Contains(told[0].Err.Error(), "oops") || told[0].Policy != "prices" {
			t.Errorf("told %v", told)
		}
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestARefreshThatExitsItsGoroutineFreesTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refreshes atomic.Int32
		l := refreshing(t, fallback.CacheConfig{}, func(context.Context, ask) (*reply, error) {
			if refreshes.Add(1) == 1 {
				runtime.Goexit()
			}
			return ok("fresh"), nil
		})
		for _, want := range []string{"old", "old", "fresh"} {
			if got := stale(t, l, "k"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			time.Sleep(2 * time.Second)
		}
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestARefreshIsCutAtItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took atomic.Int64
		l := refreshing(t, fallback.CacheConfig{}, func(ctx context.Context, _ ask) (*reply, error) {
			begin := time.Now()
			<-ctx.Done()
			took.Store(int64(time.Since(begin)))
			return nil, ctx.Err()
		})
		stale(t, l, "k")
		time.Sleep(time.Hour)
		if got := time.Duration(took.Load()); got != fallback.DefaultRefreshTimeout {
			t.Errorf("cut after %v", got)
		}
	})
}

func TestARefreshThatIgnoresItsTimeoutIsNotJoinedByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refreshes atomic.Int32
		free := make(chan struct{})
		l := refreshing(t, fallback.CacheConfig{MaxAge: 24 * time.Hour, MaxEntries: 1}, func(context.Context, ask) (*reply, error) {
			refreshes.Add(1)
			<-free
			return ok("late"), nil
		})
		before := runtime.NumGoroutine()
		for range 100 {
			stale(t, l, "k")
			time.Sleep(time.Minute)
		}
		if refreshes.Load() != 1 || runtime.NumGoroutine() > before+3 {
			t.Errorf("%d refreshes, %d goroutines more", refreshes.Load(), runtime.NumGoroutine()-before)
		}
		// Not even where the key was evicted and recorded anew.
		know(t, l, "other", "k")
		stale(t, l, "k")
		synctest.Wait()
		if refreshes.Load() != 1 {
			t.Errorf("%d refreshes", refreshes.Load())
		}
		close(free)
		time.Sleep(2 * time.Second)
		if got := stale(t, l, "k"); got != "late" {
			t.Errorf("got %q", got)
		}
		synctest.Wait()
		if refreshes.Load() != 2 {
			t.Errorf("the key was not freed: %d refreshes", refreshes.Load())
		}
	})
}

func TestOnlySoManyRefreshesRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		l := refreshing(t, fallback.CacheConfig{MaxRefreshes: 2}, func(context.Context, ask) (*reply, error) {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			time.Sleep(3 * time.Second)
			return ok("fresh"), nil
		})
		keys := []string{"a", "b", "c", "d"}
		know(t, l, keys...)
		for _, key := range keys {
			stale(t, l, key)
			synctest.Wait()
		}
		if running.Load() != 2 || most.Load() != 2 {
			t.Errorf("%d run, at most %d did", running.Load(), most.Load())
		}
		time.Sleep(5 * time.Second)
		for key, want := range map[string]string{"a": "fresh", "b": "fresh", "c": "old", "d": "old"} {
			if got := stale(t, l, key); got != want {
				t.Errorf("%s: got %q", key, got)
			}
		}
		if err := l.Close(t.Context()); err != nil || running.Load() != 0 {
			t.Errorf("%v, %d still run", err, running.Load())
		}
	})
}

func TestARefreshThatFailsKeepsTheValue(t *testing.T) {
	for name, c := range map[string]struct {
		r   *reply
		err error
	}{
		"by an error":       {nil, errDown},
		"by its answer":     {&reply{status: 503}, nil},
		"as not found":      {&reply{status: 404}, nil},
		"as a good partial": {ok("half"), backstay.Mark(errDown, backstay.Outcome{})},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := refreshing(t, fallback.CacheConfig{}, always(c.r, c.err))
				stale(t, l, "k")
				synctest.Wait()
				if got := stale(t, l, "k"); got != "old" {
					t.Errorf("got %q", got)
				}
				if c.err == nil && c.r.discarded != 1 {
					t.Errorf("the answer was discarded %d times", c.r.discarded)
				}
			})
		})
	}
}

func TestWhatMustNotBeRepeatedIsNotRefreshed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := refreshing(t, fallback.CacheConfig{}, func(context.Context, ask) (*reply, error) {
			t.Error("refreshed")
			return nil, nil
		})
		unsent := backstay.Mark(errDown, backstay.Outcome{Class: backstay.Transient, Marks: backstay.Marks{Unsent: true}})
		r, err := run(t.Context(), l, ask{key: "k", write: true}, always(nil, unsent))
		if err != nil || r.text != "old" {
			t.Errorf("got %v, %v", r, err)
		}
		synctest.Wait()
	})
}

// unforkable is a protocol that cannot repeat after all.
type unforkable struct{ protocol }

func (unforkable) Fork(q ask, _ int) (ask, error) { return q, errors.New("no") }

func TestARequestThatCannotBeForkedIsServedButNotRefreshed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refreshes atomic.Int32
		l := refreshing(t, fallback.CacheConfig{}, func(context.Context, ask) (*reply, error) {
			refreshes.Add(1)
			return nil, errDown
		})
		r, err := fallback.Run(t.Context(), l, unforkable{}, ask{key: "k"}, always(nil, errDown))
		synctest.Wait()
		if err != nil || r.text != "old" || refreshes.Load() != 0 {
			t.Errorf("got %v, %v, %d refreshes", r, err, refreshes.Load())
		}
		time.Sleep(time.Second) // the claim was given back
		stale(t, l, "k")
		synctest.Wait()
		if refreshes.Load() != 1 {
			t.Errorf("%d refreshes", refreshes.Load())
		}
	})
}

// Served by its own ladder, a refresh would take the stale value for a new one.
func TestARefreshThroughTheLadderItselfSeesTheFailure(t *testing.T) {
	for name, share := range map[string]float64{"failing": 0, "drilled": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var down, inside atomic.Bool
				fetch := func(_ context.Context, sku string) (string, error) {
					if down.Load() {
						return "", errDown
					}
					return "price of " + sku, nil
				}
				var l *fallback.Ladder[string, string]
				l = must(t, fallback.Config{DrillShare: share}, fallback.Rungs(fallback.For[string, string]{}.Cached(
					func(_ context.Context, sku string) string { return sku },
					func(ctx context.Context, sku string) (string, error) {
						inside.Store(true)
						return fallback.DoFor(ctx, l, sku, fetch)
					})))
				_, _ = fallback.DoFor(t.Context(), l, "apple", fetch)
				down.Store(true)
				time.Sleep(time.Minute)
				for range 3 {
					ctx, report := backstay.WithReport(t.Context())
					got, err := fallback.DoFor(ctx, l, "apple", fetch)
					if age := report.Summary().Age; err != nil || got != "price of apple" || age < time.Minute {
						t.Errorf("got %q, %v, aged %v", got, err, age)
					}
					time.Sleep(2 * time.Second)
				}
				if !inside.Load() {
					t.Error("not refreshed")
				}
			})
		})
	}
}

func TestThePlainRefreshIsCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := must(t, fallback.Config{}, fallback.Rungs(
			fallback.Cached(nil, func(context.Context) (string, error) { return "fresh", nil })))
		_, _ = fallback.Do(t.Context(), l, func(context.Context) (string, error) { return "old", nil })
		for _, want := range []string{"old", "fresh"} {
			got, err := fallback.Do(t.Context(), l, func(context.Context) (string, error) { return "", errDown })
			if got != want || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			synctest.Wait()
		}
	})
}
